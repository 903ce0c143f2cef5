package datasets

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Column is an input or the target.
type Column struct {
	Name    string    // as in the header
	Number  int       // in the file, counted from 1; 0 for synthetic data
	Unit    string    // "" if not known
	Time    bool      // time stamps in the file; the values count from Origin
	Origin  time.Time // the smallest stamp, in UTC
	Missing int       // missing values in the rows read
	Type    string    // one of ColumnTypes: what an input is taken for; "": nobody has asked
	Levels  []string  // of texts, whose values are their places here; nil: the values are numbers

	nanos   bool           // some time stamps have nanoseconds
	local   bool           // no time stamp has a zone, and UTC stands for one that is not known
	form    stampForm      // in which time stamps are written
	several *time.Location // in which they are written where they are in several zones; nil: UTC
}

// Instant returns the value of a time stamp, written as RFC 3339 or as 2006-01-02 15:04, in
// the unit of a column of time stamps; without a zone it is in UTC.
func (c *Column) Instant(text string) (value float64, ok bool) {
	us, ok := parseStamp([]byte(strings.TrimSpace(text)))
	if !ok || !c.Time {
		return 0, false
	}
	value = stampSeconds(float64(us-c.Origin.UnixMicro()), -(c.Origin.Nanosecond() % 1000))
	if c.Unit == "d" {
		value /= secondsPerDay
	}
	return value, true
}

// lookup finds a column by its name, else by its number: "1" is the first,
// "-1" and "last" are the last. It returns the index from 0.
func lookup(ref, file string, names []string) (int, error) {
	ref = strings.TrimSpace(ref)
	found := -1
	for i, n := range names {
		if n != ref {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("%s: columns %d and %d are both named %s; choose by number", file, found+1, i+1, quoteText(ref))
		}
		found = i
	}
	if found >= 0 {
		return found, nil
	}
	if ref == "last" {
		return len(names) - 1, nil
	}
	if n, err := strconv.Atoi(ref); err == nil {
		switch {
		case n >= 1 && n <= len(names):
			return n - 1, nil
		case n < 0 && -n <= len(names):
			return len(names) + n, nil
		}
		return 0, fmt.Errorf("%s: there is no column %d; the columns are 1 to %d: %s", file, n, len(names), quoteList(names))
	}
	msg := fmt.Sprintf("%s: there is no column %s; ", file, quoteText(ref))
	if near, ok := nearest(ref, names); ok {
		msg += fmt.Sprintf("did you mean %s? ", quoteText(near))
	}
	if parts := strings.Split(ref, ","); len(parts) > 1 {
		for i := range parts {
			parts[i] = strconv.Quote(strings.TrimSpace(parts[i]))
		}
		msg += fmt.Sprintf("several columns are written as a list, [%s]; ", strings.Join(parts, ", "))
	}
	return 0, fmt.Errorf("%sthe columns are %s", msg, quoteList(names))
}

// roles are the columns chosen from a table.
type roles struct {
	inputs  []int
	texts   map[int]bool   // those among them that are read as texts
	types   map[int]string // by Spec.Types
	asked   bool           // the inputs are named
	target  int
	group   int // −1: none
	noise   int // likewise
	notices []string
}

// defaultTarget refuses a target that is a text and that the user has not named,
// and says which columns hold numbers.
func (f *form) defaultTarget(file string, last int) error {
	if f.kinds[last] != kindText {
		return nil
	}
	advice := "no column holds numbers"
	var numbers []string
	for i, k := range f.kinds {
		if k == kindNumber {
			numbers = append(numbers, f.names[i])
		}
	}
	if len(numbers) > 0 {
		advice = "name another with --target (data.target), of " + quoteList(numbers)
	}
	return fmt.Errorf("%s: the target is the last column, %s, if none is named, but that holds text (%s); %s", file,
		quoteText(f.names[last]), quoteText(f.texts[last]), advice)
}

var errNoInputs = errors.New("no column is left to be an input")

// textsBeside is beside how many numbers a text is an input by itself: a series with a
// remark in its rows stays one.
const textsBeside = 2

// asText reports whether an input is read as texts: one that holds such, or whose values
// are levels by Spec.Types.
func (r *roles) asText(f *form, i int) bool {
	if len(f.kinds) == 0 { // columns of a source of its own
		return false
	}
	switch r.types[i] {
	case TypeLevels:
		return f.kinds[i] != kindTime
	case "":
		// A date that is not understood is told, and so are names that no header was seen in.
		return f.kinds[i] == kindText && f.header && whyNoStamp(f.texts[i]) == ""
	}
	return r.types[i] == TypeFlag && f.kinds[i] == kindText
}

// asLevels is the option that takes a column of texts in.
func asLevels(name string) string {
	key := quoteText(name)
	if bare := strings.Trim(key, `"`); bare == name && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' && c != '_' && (c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c))
	}) {
		key = bare
	}
	return fmt.Sprintf("--set 'data.types={%s=\"levels\"}'", strings.ReplaceAll(key, "'", `'\''`))
}

// chooseRoles finds the columns that a Spec names, with its defaults: the last
// column is the target, all others that hold numbers or time stamps are inputs.
func chooseRoles(s *Spec, file string, f *form) (*roles, error) {
	if len(f.names) < 2 {
		return nil, fmt.Errorf("%s: has a single column; an input and a target are needed, "+
			"and a delimiter other than , ; tab or space must be given (delimiter = \"|\")", file)
	}
	r := &roles{target: len(f.names) - 1, group: -1, noise: -1}
	if s.Group != "" {
		g, err := lookup(s.Group, file, f.names)
		if err != nil {
			return nil, fmt.Errorf("group: %w", err)
		}
		if len(f.names) < 3 {
			return nil, fmt.Errorf("%s: has 2 columns; beside the group an input and a target are needed", file)
		}
		if r.group = g; r.target == g {
			r.target--
		}
	}
	if s.NoiseColumn != "" {
		i, err := lookup(s.NoiseColumn, file, f.names)
		if err != nil {
			return nil, fmt.Errorf("noise_column: %w", err)
		}
		for r.noise = i; r.target == i || r.target == r.group; {
			if r.target--; r.target < 0 {
				return nil, fmt.Errorf("%s: beside the noise's standard deviations an input and a target are needed", file)
			}
		}
		if i == r.group {
			return nil, fmt.Errorf("%s: column %s is both the group and the noise", file, quoteText(f.names[i]))
		}
	}
	if s.Target != "" {
		t, err := lookup(s.Target, file, f.names)
		if err != nil {
			return nil, err
		}
		r.target = t
	}
	if r.target == r.group {
		return nil, fmt.Errorf("%s: column %s is both the group and the target", file, quoteText(f.names[r.group]))
	}
	if r.target == r.noise {
		return nil, fmt.Errorf("%s: column %s is both the noise and the target", file, quoteText(f.names[r.noise]))
	}
	taken := make([]bool, len(f.names))
	taken[r.target] = true
	var err error
	if r.types, err = s.typed(file, f.names); err != nil {
		return nil, err
	}
	r.texts = map[int]bool{}
	for _, ref := range s.Inputs {
		i, err := lookup(ref, file, f.names)
		if err != nil {
			return nil, err
		}
		if i == r.target {
			return nil, fmt.Errorf("%s: column %s is both an input and the target", file, quoteText(f.names[i]))
		}
		if i == r.group {
			return nil, fmt.Errorf("%s: column %s is both the group and an input", file, quoteText(f.names[i]))
		}
		if i == r.noise {
			return nil, fmt.Errorf("%s: column %s is both the noise and an input", file, quoteText(f.names[i]))
		}
		if taken[i] {
			return nil, fmt.Errorf("%s: column %s is named twice among the inputs", file, quoteText(f.names[i]))
		}
		taken[i] = true
		r.inputs = append(r.inputs, i)
		if as := r.types[i]; as == TypeText {
			return nil, fmt.Errorf("%s: column %s is an input, but by data.types text, which is none", file, quoteText(f.names[i]))
		}
		r.texts[i] = r.asText(f, i)
	}
	if r.asked = len(s.Inputs) > 0; r.asked {
		return r, nil
	}
	others := 0 // inputs that are no text
	for i := range f.names {
		if i != r.target && i != r.group && i != r.noise && len(f.kinds) > 0 && r.types[i] != TypeText &&
			(f.kinds[i] == kindNumber || f.kinds[i] == kindTime) {
			others++
		}
	}
	for i, name := range f.names {
		if i == r.target || i == r.group || i == r.noise {
			continue
		}
		r.texts[i] = r.asText(f, i)
		switch {
		case r.types[i] == TypeText:
		case f.kinds[i] == kindNumber || f.kinds[i] == kindTime || r.texts[i] && (others >= textsBeside || r.types[i] != ""):
			r.inputs = append(r.inputs, i)
		case f.kinds[i] == kindText:
			how := "holds text and is no input" + whyNoStamp(f.texts[i])
			if r.texts[i] {
				how = "is text and stays out by itself; to see what it does take it in: inputs in the launcher, or " + asLevels(name)
			}
			r.notices = append(r.notices, fmt.Sprintf("column %d (%s) %s", i+1, quoteText(name), how))
		default:
			r.notices = append(r.notices, fmt.Sprintf("column %d (%s) has no values in the first rows and is no input", i+1, quoteText(name)))
		}
	}
	if len(r.inputs) == 0 && len(r.notices) == 0 {
		return nil, fmt.Errorf("%s: %w beside the target and the noise", file, errNoInputs)
	}
	if len(r.inputs) == 0 {
		return nil, fmt.Errorf("%s: %w: %s", file, errNoInputs, r.notices[0])
	}
	return r, nil
}
