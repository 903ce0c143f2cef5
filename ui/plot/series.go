package plot

// Line is a series drawn as a line. X must be as long as the values; where it
// is nil the values stand at 0, 1, 2, ... The values are Y, or Y32 where Y is
// nil. Hi (or Hi32) makes each of them a range from Y to Hi, as left by
// downsampling that keeps minima and maxima. What is not finite is a gap.
//
// Lines of higher priority are drawn over those of lower priority and take
// whole cells from them; lines of equal priority share cells.
type Line struct {
	Name     string // in the legend; none: not listed there
	Label    string // at the line's end; none: no label
	Value    string // behind the label, as far as there is room
	Peak     string // above the highest point that is shown, where there is room; none: nothing
	Style    Style
	Dash     int  // 0 solid, 1 to 3 broken
	Mark     rune // now and then along the line, for eyes and terminals without colours; 0 none
	Priority int
	Focus    bool // over all priorities, and marked at the cursor
	Step     bool // keeps its value until the next point

	X         []float64
	Y, Hi     []float64
	Y32, Hi32 []float32
}

// Band is the area between two curves, drawn beneath the lines: as a
// background where the style has one, else as a light pattern. X nil and
// values that are not finite are as for Line.
type Band struct {
	Name   string
	Style  Style
	X      []float64
	Lo, Hi []float64
	// Jumps is set of a band that goes from one height to another at once: a cell gets all that falls into
	// it, where one that is smooth has the mean height of its columns of dots.
	Jumps bool
}

// Scatter is a set of points: dots, or characters where Mark is set.
type Scatter struct {
	Name     string
	Style    Style
	Mark     rune
	Priority int
	X, Y     []float64
}

// Marker is a vertical line at X with a text near its top, where there is room.
// Where not all texts have a place, those of the highest priority do.
type Marker struct {
	X           float64
	Text, Short string // Short, if it is not "", is for where Text has no room
	Priority    int
	Style       Style
}

// Tick is a place on an axis and its label.
type Tick struct {
	At   float64
	Text string
}

// Axis is how one direction of a chart is scaled and labelled. Where Min is
// not below Max the limits come from the data: for X as they are, for Y
// rounded outwards.
type Axis struct {
	Min, Max float64
	Include  []float64 // what limits from the data have to enclose
	Robust   bool      // limits from the data leave far outliers outside
	Log      bool      // values <= 0 are gaps
	Title    string
	Unit     string
	Hide     bool // no line, ticks or labels

	// Format writes the label of a tick; step is the distance between ticks,
	// 0 on log axes. Nil: Number.
	Format func(v, step float64) string
	Labels []Tick // instead of ticks found for the limits
}
