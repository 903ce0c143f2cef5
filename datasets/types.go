package datasets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// What an input is taken for.
const (
	TypeTime   = "time"   // time stamps, or numbers that count time
	TypeNumber = "number" // near values are alike
	TypeFew    = "few"    // a number of few whole values, which may as well be levels
	TypeFlag   = "flag"   // two values
	TypeLevels = "levels" // of a category: a text, or values none of which is nearer to another
	TypeText   = "text"   // no input
)

// ColumnTypes lists what Spec.Types may hold.
func ColumnTypes() []string {
	return []string{TypeTime, TypeNumber, TypeFew, TypeFlag, TypeLevels, TypeText}
}

const (
	rowsPerLevel = 8    // on average, of a text that is taken for levels and of few numbers
	mostLevels   = 100  // of a text that nobody has named
	mostNamed    = 1000 // of one that somebody has
	mostFew      = 12   // values of a column of few
)

// levelNames are the texts of a column of levels, numbered from 0 in the order of the
// file, which rows that come later do not change.
type levelNames struct {
	names  []string
	places map[string]int
	known  int  // of those that training rows have; behind them are others
	fold   bool // a flag's, in any case
}

// newLevels are those that a column of training rows has; nil: none is known.
func newLevels(names []string) *levelNames {
	l := &levelNames{places: map[string]int{}}
	_, l.fold = isFlag(names[:min(2, len(names))]) // behind a flag's are those that rows had later
	for _, n := range names {
		l.add(n)
	}
	if len(l.names) < len(names) { // some differ in their case alone, and were not folded
		l.names, l.places, l.fold = nil, map[string]int{}, false
		for _, n := range names {
			l.add(n)
		}
	}
	l.known = len(names)
	return l
}

// add returns the number of a level.
func (l *levelNames) add(text string) int {
	key := text
	if l.fold {
		key = strings.ToLower(text)
	}
	at, ok := l.places[key]
	if !ok {
		at = len(l.names)
		l.places[strings.Clone(key)] = at
		l.names = append(l.names, strings.Clone(text))
	}
	return at
}

// unknown says which levels no training row has; "" if there are none.
func (l *levelNames) unknown(column string) string {
	if l == nil || len(l.names) == l.known {
		return ""
	}
	return fmt.Sprintf("column %s: no training row has %s; there the prediction falls back on what levels have in common",
		quoteText(column), readableList(l.names[l.known:]))
}

// flagPairs are texts of 0 and of 1.
var flagPairs = [][2]string{{"false", "true"}, {"no", "yes"}, {"off", "on"}, {"n", "y"}, {"f", "t"}, {"nein", "ja"}, {"non", "oui"}}

// isFlag reports whether two texts are those of a flag, and orders them: 0, 1.
func isFlag(names []string) (ordered []string, ok bool) {
	if len(names) != 2 {
		return nil, false
	}
	for _, p := range flagPairs {
		for i := range 2 {
			if strings.EqualFold(names[i], p[0]) && strings.EqualFold(names[1-i], p[1]) {
				return []string{names[i], names[1-i]}, true
			}
		}
	}
	return nil, false
}

// typed finds the columns that Spec.Types names, by their place in a table.
func (s *Spec) typed(file string, names []string) (map[int]string, error) {
	out := map[int]string{}
	for ref, as := range s.Types {
		i, err := lookup(ref, file, names)
		if err != nil {
			return nil, fmt.Errorf("types: %w", err)
		}
		if was, twice := out[i]; twice && was != as {
			return nil, fmt.Errorf("%s: data.types has column %s both as %s and as %s", file, quoteText(names[i]), was, as)
		}
		out[i] = as
	}
	return out, nil
}

// settle decides what the columns of a table that were read as texts are, by its first
// rows, those of Spec.FirstRows: a flag, levels, or, of too many values, no input, which it
// leaves out with a notice. Errors: too many values of a column that the user has named.
func (r *roles) settle(t *table, first int) error {
	inputs := t.columns[:len(t.columns)-1]
	target := t.columns[len(t.columns)-1]
	kept := inputs[:0]
	for _, c := range inputs {
		if c.levels == nil {
			kept = append(kept, c)
			continue
		}
		names, rows := c.decisiveLevels(cmp.Or(first, t.rows))
		n := len(names)
		named := r.types[c.number-1] == TypeLevels || r.types[c.number-1] == TypeFlag || r.asked
		switch ordered, ok := isFlag(names); {
		case n < 2 && !named:
			r.notices = append(r.notices, fmt.Sprintf("column %d (%s) has one value and is no input", c.number, quoteText(c.name)))
			continue
		case named && n > min(mostNamed, max(2, rows/2)):
			return fmt.Errorf("%s: column %d (%s) has %d different texts in %d rows: too many to be levels; leave it out (data.inputs), or give "+
				"what matters of it as a column of its own", t.file, c.number, quoteText(c.name), n, rows)
		case !named && n > min(mostLevels, rows/rowsPerLevel):
			r.notices = append(r.notices, fmt.Sprintf(
				"column %d (%s) holds text, %d different ones in %d rows, and is no input: too many to be levels",
				c.number, quoteText(c.name), n, rows))
			continue
		case ok:
			c.renumber(newLevels(ordered))
			r.types[c.number-1] = cmp.Or(r.types[c.number-1], TypeFlag)
		}
		kept = append(kept, c)
	}
	if len(kept) == 0 {
		return fmt.Errorf("%s: %w: %s", t.file, errNoInputs, r.notices[0])
	}
	t.columns = append(kept, target)
	return nil
}

// decisiveLevels are the levels that so many rows have, the first ones, and how many of
// these have one.
func (col *tableColumn) decisiveLevels(first int) (names []string, rows int) {
	n := 0
	for _, v := range col.values[:first] {
		if !math.IsNaN(v) {
			rows, n = rows+1, max(n, int(v)+1)
		}
	}
	return col.levels.names[:n], rows
}

// renumber has a column's values number other levels, which get those that they lack.
func (col *tableColumn) renumber(to *levelNames) {
	places := make([]float64, len(col.levels.names))
	for i, name := range col.levels.names {
		places[i] = float64(to.add(name))
	}
	for i, v := range col.values {
		if !math.IsNaN(v) {
			col.values[i] = places[int(v)]
		}
	}
	col.levels = to
}

// findTypes decides what each input is taken for, by the rows that decide such things.
func (d *Dataset) findTypes() {
	for j := range d.Inputs {
		c := &d.Inputs[j]
		if c.Type != "" { // stated
			continue
		}
		few, two := d.few(j)
		switch word, _ := timeWord(c.Name); {
		case c.Time:
			c.Type = TypeTime
		case len(c.Levels) > 0:
			c.Type = TypeLevels // settle has found flags
		case two:
			c.Type = TypeFlag
		case few:
			c.Type = TypeFew
		case word != "" && slices.IsSorted(column(d.X[:d.decisive()*d.Dim], d.Dim, j)):
			c.Type = TypeTime
		default:
			c.Type = TypeNumber
		}
	}
}

// column is one of rows x dim numbers.
func column(x []float64, dim, j int) []float64 {
	out := make([]float64, 0, len(x)/dim)
	for i := j; i < len(x); i += dim {
		out = append(out, x[i])
	}
	return out
}

// few reports whether an input holds few values, each often: several whole numbers, or two
// of any.
func (d *Dataset) few(j int) (few, two bool) {
	rows := d.decisive()
	seen, whole := map[float64]bool{}, true
	for _, v := range column(d.X[:rows*d.Dim], d.Dim, j) {
		seen[v] = true
		if whole = whole && v == math.Trunc(v); len(seen) > mostFew {
			return false, false
		}
	}
	often := len(seen)*rowsPerLevel <= rows
	return often && whole && len(seen) > 2, often && len(seen) == 2
}

// Categorical reports whether values of a column are levels, none nearer to another.
func (c *Column) Categorical() bool {
	return c.Type == TypeLevels || c.Type == TypeFlag || c.Type == "" && len(c.Levels) > 0
}

// level is the text of a value of a column of levels.
func (c *Column) level(v float64) string {
	if i := int(v); i >= 0 && i < len(c.Levels) {
		return c.Levels[i]
	}
	return "(unknown)"
}
