package record

import (
	"math"

	"example.com/kestrel/experiment/files"
)

// Effects are how large the additive parts of a kernel are, given the data.
type Effects struct {
	Evaluation int      `json:"evaluation"`
	Kernel     string   `json:"kernel"` // id
	All        []Effect `json:"all"`    // none where no part has one
}

// What effects are of.
const (
	EffectSlope  = "slope"  // of a straight line, for one unit of the column
	EffectChange = "change" // of what wanders: its end less its beginning
	EffectStep   = "step"   // of a level that changes at several places: what it is behind one of them less what it is before
	EffectBend   = "bend"   // of a line that goes over to another one: by how much its slope changes, for one unit of the column
	EffectLevel  = "level"  // of a category, less that of the most frequent one
	EffectPart   = "part"   // of a day, a week or a year, less the mean of the whole
	EffectSwing  = "swing"  // of what repeats or varies about a level: half of its highest less its lowest
	EffectShape  = "shape"  // of what varies along a column and turns once or not at all: its highest less its lowest
)

// Names of shapes along a column; that against which one with a top or a bottom is told is the place of it.
const (
	ShapeRises  = "rises"
	ShapeFalls  = "falls"
	ShapeTop    = "top"
	ShapeBottom = "bottom"
)

// Effect is one of them, in the unit of the target as it is modelled: what is expected of
// it, and the standard deviation of that.
type Effect struct {
	Kind    string       `json:"kind"`
	Part    string       `json:"component"`         // canonical expression of the part that it is of
	Column  string       `json:"column"`            // that the part acts on
	Name    string       `json:"name,omitempty"`    // of the level, of the part of time, of the shape, of the place of a step
	Against string       `json:"against,omitempty"` // the most frequent level, or where the top or bottom is
	Mean    files.Number `json:"mean"`
	SD      files.Number `json:"sd"`
	Place   *Bend        `json:"place,omitempty"` // of a bend
}

// Bend is where a line bends along a column, in the unit of that: between low and high with 95 % of the belief, behind
// the middle with half of it.
type Bend struct {
	Low    files.Number `json:"low"`
	Middle files.Number `json:"middle"`
	High   files.Number `json:"high"`
}

// central is how many standard deviations an interval of 95 % has on each side.
const central = 1.96

// Known reports whether the interval of 95 % does not contain 0.
func (e *Effect) Known() bool { return math.Abs(float64(e.Mean)) > central*float64(e.SD) }

// Apart reports whether two effects differ by more than the interval of 95 % of their
// difference, as if they were independent.
func (e *Effect) Apart(other *Effect) bool {
	return math.Abs(float64(e.Mean-other.Mean)) > central*math.Hypot(float64(e.SD), float64(other.SD))
}
