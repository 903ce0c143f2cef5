package datasets

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"example.com/kestrel/datasets/transform"
)

// Sources lists the kinds of data that can be loaded; the first is the default.
func Sources() []string { return []string{"csv", "synthetic", "swissgrid", "ieq"} }

// Spec says which data to load and how to divide them. It is the [data]
// section of a config. Zero values stand for the defaults given here.
type Spec struct {
	Name   string // of the dataset; default: the file's name, or the kernel
	Source string // one of Sources

	// Files.
	Path       string            // looked for in SearchDirs, the working directory, $KESTREL_DATA; see loadSwissgrid for more than one file
	SearchDirs []string          // the folder of the config, as a rule
	Inputs     []string          // by name or number ("1" is the first column, "-1" and "last" the last); default: all others
	Target     string            // default: the last column; of Swissgrid's workbooks part of a name, see findSeries
	Header     string            // "auto" (default), "yes", "no"
	Delimiter  string            // "auto" (default), ",", ";", "tab", "space", or any other ASCII character
	Decimal    string            // the decimal sign: "auto" (default), ".", ","; where it is named, the other one may divide thousands
	Types      map[string]string // of columns, by name or number, what they are taken for: of ColumnTypes; others as found
	Missing    []string          // texts that stand for a missing value, in any case; nil: DefaultMissing. An empty field always does.

	FirstRows int // of the table: scaling, seasons and held-out rows are theirs, and those behind are for training, last, see grown.go; 0: all

	// A long table of several series, one below the other, see Groups.
	Group      string // the column, of texts or numbers, that names the series of a row; "": there is one
	GroupValue string // the series that is meant, as it stands in the table; "": the only one

	// Noise that is not equal in all rows.
	NoiseColumn string // standard deviations of it, but for a common factor; it is no input. "": they are not known
	NoiseBy     string // an input whose values have noise of their own; "": none

	// The Intel lab, see loadIntel.
	Locations string // of the motes; default: mote_locs.txt beside the data
	ValidRows int    // the first so many valid rows are taken; 0: all

	// Division. TestRows, if not 0, takes precedence over TestFraction.
	TestFraction float64 // of the rows (of the range of the first input if SplitBy is "x"), in [0, 1)
	TestRows     int     // held out
	SplitBy      string  // "auto" (default): "x" of a series in time, else "random"; "rows": the last ones; "x": the largest inputs; "mask"
	Mask         string  // a table without header whose entries are 1 for test rows and 0 else
	MaskColumn   int     // 1-based; default 1
	Order        string  // of the training stream: "shuffled" (default), "time": ascending first input
	Seed         uint64  // of divisions and orders drawn at random, and of synthetic data

	// Time, see Series.
	Time   string  // whether the input is time: "auto" (default), "yes", "no"
	Season int     // length of the season in steps; 0: by the calendar; 1: there is none
	Cycle  float64 // a period that the calendar does not know, in steps; 0: none; below 0: to be looked for by whoever chooses kernels

	// Columns that are made of the time stamps of a series, see calendar.
	Calendar []string // of CalendarNames; "auto" alone is none, to be decided by whoever chooses kernels
	Holidays string   // a file of dates, or one of holidays.Codes; the column "holiday" is 1 on them, else 0
	Zone     string   // IANA name of the time zone of these; "": that of each stamp. Stamps without one are in it as they are

	// Standardisation, see NewScaler: "full" (default), "scale", "none".
	StandardiseX, StandardiseY string

	// Of the target, before that: one of transform.Names, "none" by default, and the
	// ends of the interval of "logit", nil for 0 and 1.
	Transform       string
	TransformBounds []float64

	// The synthetic generator. Its test rows are outputs beyond Outputs.
	Kernel    string
	Params    []float64 // raw natural parameters, leaf by leaf; nil: the paper's, or 1 for other kernels
	Noise     float64   // sd of the observation noise, in sds of the noise-free training outputs
	Support   int       // number of support inputs; default 256
	Outputs   int       // number of training rows; default 1000
	Low, High float64   // range of the inputs; default [-10, 10]
}

// DefaultMissing returns the texts that stand for a missing value where
// Spec.Missing is nil.
func DefaultMissing() []string {
	return []string{"NA", "N/A", "#N/A", "NaN", "null", "None", "?", "-"}
}

// withDefaults fills in the defaults and checks the ranges.
func (s Spec) withDefaults() (Spec, error) {
	for _, o := range []struct {
		key     string
		value   *string
		allowed []string
	}{
		{"source", &s.Source, Sources()},
		{"header", &s.Header, []string{"auto", "yes", "no"}},
		{"decimal", &s.Decimal, []string{"auto", ".", ","}},
		{"split_by", &s.SplitBy, []string{"auto", "random", "rows", "x", "mask"}},
		{"time", &s.Time, []string{"auto", "yes", "no"}},
		{"order", &s.Order, []string{"shuffled", "time"}},
		{"standardise_x", &s.StandardiseX, []string{"full", "scale", "none"}},
		{"standardise_y", &s.StandardiseY, []string{"full", "scale", "none"}},
		{"transform", &s.Transform, transform.Names()},
	} {
		if *o.value == "" {
			*o.value = o.allowed[0]
		}
		if err := oneOf(o.key, *o.value, o.allowed); err != nil {
			return s, err
		}
	}
	for _, as := range s.Types {
		if err := oneOf("types", as, ColumnTypes()); err != nil {
			return s, err
		}
	}
	if slices.Equal(s.Calendar, []string{"auto"}) {
		s.Calendar = nil
	}
	for _, name := range s.Calendar {
		if err := oneOf("calendar", name, CalendarNames()); err != nil {
			return s, err
		}
	}
	if s.Missing == nil {
		s.Missing = DefaultMissing()
	}
	if s.MaskColumn == 0 {
		s.MaskColumn = 1
	}
	if s.Support == 0 {
		s.Support = 256
	}
	if s.Outputs == 0 {
		s.Outputs = 1000
	}
	if s.Low == 0 && s.High == 0 {
		s.Low, s.High = -10, 10
	}
	switch {
	case !(s.TestFraction >= 0 && s.TestFraction < 1):
		return s, fmt.Errorf("test = %v: a fraction must be in [0, 1)", s.TestFraction)
	case s.TestRows < 0:
		return s, fmt.Errorf("test = %d: the number of test rows must not be negative", s.TestRows)
	case s.MaskColumn < 0:
		return s, fmt.Errorf("mask_column = %d: columns are counted from 1", s.MaskColumn)
	case s.Support < 1 || s.Outputs < 1:
		return s, fmt.Errorf("support = %d, outputs = %d: both must be positive", s.Support, s.Outputs)
	case !(s.Noise >= 0) || math.IsInf(s.Noise, 1):
		return s, fmt.Errorf("noise = %v: must be finite and not negative", s.Noise)
	case !(s.Low < s.High) || math.IsInf(s.Low, 0) || math.IsInf(s.High, 0):
		return s, fmt.Errorf("low = %v, high = %v: the range of the inputs is empty", s.Low, s.High)
	case s.Season < 0:
		return s, fmt.Errorf("season = %d: the number of steps must not be negative", s.Season)
	case s.asksCalendar() && s.Source == "synthetic":
		return s, fmt.Errorf("data.calendar and data.holidays need time stamps, but source = \"synthetic\"")
	case s.ValidRows < 0:
		return s, fmt.Errorf("valid_rows = %d: the number of rows must not be negative", s.ValidRows)
	case s.FirstRows < 0:
		return s, fmt.Errorf("first_rows = %d: the number of rows must not be negative", s.FirstRows)
	case s.FirstRows > 0 && s.Source != "csv":
		return s, fmt.Errorf("first_rows = %d needs source = \"csv\", not %q", s.FirstRows, s.Source)
	case len(s.Types) > 0 && s.Source != "csv":
		return s, fmt.Errorf("types needs source = \"csv\", not %q", s.Source)
	case s.Group != "" && s.Source != "csv":
		return s, fmt.Errorf("group = %s needs source = \"csv\", not %q", quoteText(s.Group), s.Source)
	case s.NoiseColumn != "" && s.Source != "csv":
		return s, fmt.Errorf("noise_column = %s needs source = \"csv\", not %q", quoteText(s.NoiseColumn), s.Source)
	case s.GroupValue != "" && s.Group == "":
		return s, fmt.Errorf("group_value = %s, but data.group names no column", quoteText(s.GroupValue))
	case (s.Source == "csv" || s.Source == "ieq") && s.Path == "":
		return s, fmt.Errorf("data.path is missing: it names the file to read")
	case s.Source == "synthetic" && s.Kernel == "":
		return s, fmt.Errorf("data.kernel is missing: it names the kernel to draw a function from")
	case s.Source == "synthetic" && s.SplitBy == "mask":
		return s, fmt.Errorf("split_by = \"mask\" needs a file, but source = \"synthetic\"")
	case s.Source != "synthetic" && s.SplitBy == "mask" && s.Mask == "":
		return s, fmt.Errorf("split_by = \"mask\", but data.mask names no file")
	}
	return s, nil
}

// oneOf checks that value is one of those allowed, and else names the nearest.
func oneOf(key, value string, allowed []string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	msg := fmt.Sprintf("%s = %q: allowed are %s", key, value, quoteList(allowed))
	if near, ok := nearest(value, allowed); ok {
		msg += fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("%s", msg)
}

// nearest returns the name that is closest to s in edit distance, regardless
// of case, if it is close enough to be meant.
func nearest(s string, names []string) (string, bool) {
	best, at := -1, ""
	for _, n := range names {
		d := levenshtein.ComputeDistance(strings.ToLower(s), strings.ToLower(n))
		if best < 0 || d < best {
			best, at = d, n
		}
	}
	return at, best >= 0 && best <= max(2, len([]rune(s))/2) && best < len([]rune(at))
}
