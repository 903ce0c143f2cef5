package record

import (
	"fmt"
	"math"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/kernelspace"
)

// Header says in comments where a config was run.
func (s *Start) Header() string {
	return fmt.Sprintf("# As run by kestrel %s, on %s.\n\n", s.Build, s.Device)
}

// Start says what the run is.
type Start struct {
	Name       string            `json:"name"`
	Seed       uint64            `json:"seed"`
	Config     string            `json:"config"` // resolved, TOML
	Build      Build             `json:"build"`
	Device     string            `json:"device"`
	DeviceKind string            `json:"device_kind,omitempty"` // "cpu" or "cuda"
	Lanes      int               `json:"lanes"`
	Data       *datasets.Summary `json:"data"`
	Inducing   int               `json:"inducing"`
	Planned    int               `json:"planned"` // evaluations
	Kernels    []KernelInfo      `json:"kernels"`
	Grows      bool              `json:"grows,omitempty"`     // kernels come and go while it goes on
	Course     *Course           `json:"course,omitempty"`    // what follows by itself, if anything
	Baselines  *Baselines        `json:"baselines,omitempty"` // nil without test rows, and in the logs of older versions
}

// KernelInfo describes a kernel of the space.
type KernelInfo struct {
	ID     string      `json:"id"`   // canonical ASCII expression
	Name   string      `json:"name"` // for reading
	Weight float64     `json:"weight"`
	Params []ParamInfo `json:"params"`
	Fixed  []Fixed     `json:"fixed,omitempty"` // places that are not optimised, such as LIN's centre
}

// ParamInfo describes a hyperparameter. The last one of a kernel is its noise
// variance.
type ParamInfo struct {
	Name   string  `json:"name"` // "PER.period", "SE#2.variance"
	Column string  `json:"column,omitempty"`
	Unit   string  `json:"unit,omitempty"`
	Scale  float64 `json:"scale"`            // standardised value to data units
	Shift  float64 `json:"shift,omitempty"`  // added to that, of places
	Fixed  bool    `json:"fixed,omitempty"`  // another amplitude carries its scale
	Stated string  `json:"stated,omitempty"` // what the config says of it: "fixed", "bounded", "prior"; "": nothing
}

// Levels stand for the levels of an input that have a length each in some kernel, as
// kernelspace.Options has them: as many, though not their values, of which there is no record.
func (s *Start) Levels(column int) (levels []float64) {
	for i := range s.Kernels {
		leaf, n := "", 0
		for _, p := range s.Kernels[i].Params {
			of, name, _ := strings.Cut(p.Name, ".")
			if !strings.HasPrefix(name, "lengthscale(") || p.Column != s.Inputs()[column].Name {
				continue
			}
			if of != leaf { // that of another leaf is as long
				leaf, n = of, 0
			}
			if n++; n > len(levels) {
				levels = append(levels, float64(n))
			}
		}
	}
	return levels
}

// InUnits turns the standardised value of a hyperparameter into that in data units.
func (p *ParamInfo) InUnits(v float64) float64 {
	if p.changes() {
		v = kernelspace.PlaceOf(v)
	}
	return p.Shift + p.Scale*v
}

// Standardised is the reverse of InUnits.
func (p *ParamInfo) Standardised(v float64) float64 {
	v = (v - p.Shift) / p.Scale
	if p.changes() {
		return kernelspace.RawPlace(v)
	}
	return v
}

// changes reports whether a hyperparameter is the place of a change point.
func (p *ParamInfo) changes() bool { return strings.HasSuffix(p.Name, ".place") }

// Place reports whether a hyperparameter is a place in its column, and not a length.
func (p *ParamInfo) Place() bool { return p.changes() || strings.HasSuffix(p.Name, ".origin") }

// Spread says how far a hyperparameter of this value is likely to be off, from the
// standard deviation of its logarithm: by a factor, or of places by an amount in data
// units.
func (p *ParamInfo) Spread(v, sd float64) (factor, amount float64) {
	switch {
	case p.changes(): // asinh of the standardised place
		return 0, sd * math.Hypot(p.Scale, v-p.Shift)
	case p.Place():
		return 0, sd * math.Abs(v-p.Shift)
	}
	return math.Exp(sd), 0
}

// Fixed is a parameter whose value the data decide.
type Fixed struct {
	Name   string  `json:"name"`
	Column string  `json:"column"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
}

// Experiment identifies what was run but for its seed: runs of equal experiments
// are repeats of each other. What a comparison is to do besides ([compare]) does
// not concern a run; it may change while a comparison goes on.
func (s *Start) Experiment() string {
	return s.ExperimentBut(func(string, string) bool { return false })
}

// ExperimentBut is Experiment without some more keys.
func (s *Start) ExperimentBut(not func(section, key string) bool) string {
	var b strings.Builder
	b.WriteString(s.Name)
	err := config.EachSetting(s.Config, func(section, key, value string) {
		if section == "" && key == "seed" || section == "compare" || not(section, key) {
			return
		}
		b.WriteString("\n" + section + "." + key + " = " + value)
	})
	if err != nil { // no program has written that: it is equal to itself only
		return s.Name + "\n" + s.Config
	}
	return b.String()
}
