package config

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/kestrel/experiment/files"
)

// value reads and writes what a key holds. set gets what TOML decoded: int64,
// float64, string, bool, []any or map[string]any; its error completes the
// sentence that begins with the key. toml is the text of the value, "" to leave
// the key out.
type value interface {
	set(v any) error
	toml() string
}

// shown writes a wrong value for a message.
func shown(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	case float64:
		return files.FormatFloat(v)
	}
	return fmt.Sprint(v)
}

// textValue is a single text.
type textValue struct {
	p       *string
	options []string
	match   *regexp.Regexp
	want    string // what match wants, in words
}

func choice(p *string, options ...string) textValue { return textValue{p: p, options: options} }

// sha256Value is the hash of a file; "" for none.
func sha256Value(p *string) textValue {
	return textValue{p: p, match: regexp.MustCompile(`^([0-9a-f]{64})?$`), want: "64 hexadecimal digits"}
}

func (t textValue) set(v any) error {
	s, ok := v.(string)
	switch {
	case t.options != nil && (!ok || !slices.Contains(t.options, s)):
		near := Nearest(s, t.options)
		if near != "" {
			near = fmt.Sprintf("; did you mean %q?", near)
		}
		return fmt.Errorf("must be one of %s, not %s%s", quotedList(t.options), shown(v), near)
	case !ok:
		return fmt.Errorf("must be a text, not %s", shown(v))
	case t.match != nil && !t.match.MatchString(s):
		return fmt.Errorf("must consist of %s, not %s", t.want, shown(v))
	}
	*t.p = s
	return nil
}

func (t textValue) toml() string {
	if *t.p == "" {
		return ""
	}
	return quoteTOML(*t.p)
}

func quotedList(s []string) string {
	q := make([]string, len(s))
	for i := range s {
		q[i] = strconv.Quote(s[i])
	}
	return strings.Join(q, ", ")
}

// quoteTOML writes a basic string: JSON's escapes are among TOML's.
func quoteTOML(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("experiment: a string cannot be encoded")
	}
	return strings.ReplaceAll(strings.TrimSpace(b.String()), "\x7f", `\u007f`)
}

// whole is a whole number from lo to hi.
type whole struct {
	p      *int
	lo, hi int
}

func (w whole) set(v any) error {
	n, ok := v.(int64)
	if !ok || n < int64(w.lo) || n > int64(w.hi) {
		if w.hi == many {
			return fmt.Errorf("must be a whole number, at least %d, not %s", w.lo, shown(v))
		}
		return fmt.Errorf("must be a whole number from %d to %d, not %s", w.lo, w.hi, shown(v))
	}
	*w.p = int(n)
	return nil
}

func (w whole) toml() string { return strconv.Itoa(*w.p) }

// autoText leaves a number to the program.
const autoText = "auto"

// autoWhole is a whole number, or "auto", which is 0.
type autoWhole whole

func (w autoWhole) set(v any) error {
	if v == autoText {
		*w.p = 0
		return nil
	}
	n, ok := v.(int64)
	if !ok || n < int64(w.lo) || n > int64(w.hi) {
		return fmt.Errorf(`must be "auto" or a whole number from %d to %d, not %s`, w.lo, w.hi, shown(v))
	}
	*w.p = int(n)
	return nil
}

func (w autoWhole) toml() string {
	if *w.p == 0 {
		return strconv.Quote(autoText)
	}
	return strconv.Itoa(*w.p)
}

// autoReal is a number, or "auto", which is below 0.
type autoReal real

func (r autoReal) set(v any) error {
	if v == autoText {
		*r.p = -1
		return nil
	}
	if err := real(r).set(v); err != nil {
		return fmt.Errorf(`must be "auto" or %s`, strings.TrimPrefix(err.Error(), "must be "))
	}
	return nil
}

func (r autoReal) toml() string {
	if *r.p < 0 {
		return strconv.Quote(autoText)
	}
	return real(r).toml()
}

// InducingText is the number of inducing inputs, or "auto".
func (c *Config) InducingText() string {
	if c.Settings.Inducing == 0 {
		return autoText
	}
	return strconv.Itoa(c.Settings.Inducing)
}

// depth is a whole number that is only there beside a base.
type depth struct{ p *int }

func (d depth) set(v any) error { return whole{d.p, 1, 8}.set(v) }

func (d depth) toml() string {
	if *d.p == 0 {
		return ""
	}
	return strconv.Itoa(*d.p)
}

type seed struct{ p *uint64 }

func (s seed) set(v any) error {
	n, ok := v.(int64)
	if !ok || n < 0 {
		return fmt.Errorf("must be a whole number, at least 0, not %s", shown(v))
	}
	*s.p = uint64(n)
	return nil
}

func (s seed) toml() string { return strconv.FormatUint(*s.p, 10) }

// real is a number from lo to hi, without lo itself if open.
type real struct {
	p      *float64
	lo, hi float64
	open   bool
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, false
}

func (r real) set(v any) error {
	f, ok := number(v)
	if !ok || f < r.lo || f > r.hi || r.open && f == r.lo {
		from := "at least " + files.FormatFloat(r.lo)
		if r.open {
			from = "greater than " + files.FormatFloat(r.lo)
		}
		switch {
		case math.IsInf(r.lo, -1):
			return fmt.Errorf("must be a finite number, not %s", shown(v))
		case math.IsInf(r.hi, 1):
			return fmt.Errorf("must be a number %s, not %s", from, shown(v))
		}
		return fmt.Errorf("must be a number %s and at most %s, not %s", from, files.FormatFloat(r.hi), shown(v))
	}
	*r.p = f
	return nil
}

func (r real) toml() string { return tomlFloat(*r.p) }

// tomlFloat writes a number so that TOML reads a float.
func tomlFloat(f float64) string {
	s := files.FormatFloat(f)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

type flag struct{ p *bool }

func (f flag) set(v any) error {
	b, ok := v.(bool)
	if !ok {
		return fmt.Errorf("must be true or false, not %s", shown(v))
	}
	*f.p = b
	return nil
}

func (f flag) toml() string { return strconv.FormatBool(*f.p) }

// texts is a list of texts.
type texts struct{ p *[]string }

func (t texts) set(v any) error {
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("must be a list of texts, not %s", shown(v))
	}
	out := []string{}
	for i, e := range list {
		s, ok := e.(string)
		if !ok {
			return &elementError{i, fmt.Errorf("must be a list of texts; one of them is %s", shown(e))}
		}
		out = append(out, s)
	}
	*t.p = out
	return nil
}

func (t texts) toml() string {
	if *t.p == nil {
		return ""
	}
	q := make([]string, len(*t.p))
	for i, s := range *t.p {
		q[i] = quoteTOML(s)
	}
	return "[" + strings.Join(q, ", ") + "]"
}

// chosen is a list of options, each once, in their order.
type chosen struct {
	p       *[]string
	options []string
}

func (c chosen) set(v any) error {
	if s, ok := v.(string); ok { // as --set data.calendar=hour,weekday
		if v = splitList(s); s == "" {
			v = []any{}
		}
	}
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("must be a list out of %s, not %s", quotedList(c.options), shown(v))
	}
	taken := map[string]bool{}
	for i, e := range list {
		var name string
		if err := choice(&name, c.options...).set(e); err != nil {
			return &elementError{i, fmt.Errorf("has a wrong entry: it %w", err)}
		}
		taken[name] = true
	}
	*c.p = nil
	for _, name := range c.options {
		if taken[name] {
			*c.p = append(*c.p, name)
		}
	}
	return nil
}

func (c chosen) toml() string {
	if *c.p == nil { // none of them, which need not be what is so by default
		return "[]"
	}
	return texts{c.p}.toml()
}

// elementError is about one element of a list.
type elementError struct {
	index int
	err   error
}

func (e *elementError) Error() string { return e.err.Error() }

func (e *elementError) Unwrap() error { return e.err }

// column is a column's name or number.
type column struct{ p *string }

func columnName(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	}
	return "", false
}

func (c column) set(v any) error {
	s, ok := columnName(v)
	if !ok {
		return fmt.Errorf("must be the name or number of a column, not %s", shown(v))
	}
	*c.p = s
	return nil
}

func (c column) toml() string { return textValue{p: c.p}.toml() }

type columns struct{ p *[]string }

func (c columns) set(v any) error {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for i, e := range list {
		s, ok := columnName(e)
		if !ok {
			return &elementError{i, fmt.Errorf("must be a list of column names or numbers; one of them is %s", shown(e))}
		}
		out = append(out, s)
	}
	*c.p = out
	return nil
}

func (c columns) toml() string { return texts(c).toml() }

type reals struct{ p *[]float64 }

func (r reals) set(v any) error {
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("must be a list of numbers, not %s", shown(v))
	}
	var out []float64
	for i, e := range list {
		f, ok := number(e)
		if !ok || f <= 0 {
			return &elementError{i, fmt.Errorf("must be a list of positive numbers; one of them is %s", shown(e))}
		}
		out = append(out, f)
	}
	*r.p = out
	return nil
}

func (r reals) toml() string {
	if *r.p == nil {
		return ""
	}
	q := make([]string, len(*r.p))
	for i, f := range *r.p {
		q[i] = tomlFloat(f)
	}
	return "[" + strings.Join(q, ", ") + "]"
}

// interval is two finite numbers, the lower one first; nil: none.
type interval struct{ p *[]float64 }

func (i interval) set(v any) error {
	list, ok := v.([]any)
	if !ok || len(list) != 2 {
		return fmt.Errorf("must be a list of two numbers, the lower one first, not %s", shown(v))
	}
	low, lowOK := number(list[0])
	high, highOK := number(list[1])
	if !lowOK || !highOK || low >= high || math.IsInf(high-low, 1) {
		return fmt.Errorf("must be a list of two numbers, the lower one first, not [%s, %s]", shown(list[0]), shown(list[1]))
	}
	*i.p = []float64{low, high}
	return nil
}

func (i interval) toml() string { return reals(i).toml() }

// testRows is a number of rows or a fraction.
type testRows struct {
	rows     *int
	fraction *float64
}

func (t testRows) set(v any) error {
	switch v := v.(type) {
	case int64:
		if v >= 0 && v <= many {
			*t.rows, *t.fraction = int(v), 0
			return nil
		}
	case float64:
		if v >= 0 && v < 1 {
			*t.rows, *t.fraction = 0, v
			return nil
		}
	}
	return fmt.Errorf("must be a whole number of rows or a fraction from 0 to less than 1, not %s", shown(v))
}

func (t testRows) toml() string {
	if *t.rows > 0 || *t.fraction == 0 {
		return strconv.Itoa(*t.rows)
	}
	return tomlFloat(*t.fraction)
}

// budget is a number of evaluations or a time.
type budget struct {
	evaluations *int
	time        *time.Duration
}

func (b budget) set(v any) error {
	switch v := v.(type) {
	case int64:
		if v >= 0 && v <= many {
			*b.evaluations, *b.time = int(v), 0
			return nil
		}
	case string:
		if d, err := time.ParseDuration(v); err == nil && d > 0 {
			*b.evaluations, *b.time = 0, d
			return nil
		}
	}
	return fmt.Errorf(`must be a number of evaluations or a time such as "90s" or "10m", not %s`, shown(v))
}

func (b budget) toml() string {
	if *b.time > 0 {
		return quoteTOML(b.time.String())
	}
	return strconv.Itoa(*b.evaluations)
}

// autoPrune is false, or a table.
type autoPrune struct {
	below      *float64
	wait, keep *int
}

func (a autoPrune) set(v any) error {
	f, isNumber := number(v)
	if v == false || isNumber && f == 0 {
		*a.below = 0
		return nil
	}
	table, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("must be false or a table {below = 0.001, wait = 3, keep = 10}, not %s", shown(v))
	}
	if _, ok := table["below"]; !ok {
		return fmt.Errorf("must state below, the mass under which kernels are pruned")
	}
	parts := map[string]value{
		"below": real{a.below, 0, 1, true}, "wait": whole{a.wait, 1, many}, "keep": whole{a.keep, 1, many},
	}
	for _, name := range []string{"below", "wait", "keep"} {
		part, ok := table[name]
		if !ok {
			continue
		}
		if err := parts[name].set(part); err != nil {
			return fmt.Errorf("has a wrong entry: %s %w", name, err)
		}
		delete(table, name)
	}
	for name := range table {
		return fmt.Errorf("has an unknown entry %q; entries are below, wait, keep", name)
	}
	return nil
}

func (a autoPrune) toml() string {
	if *a.below == 0 {
		return "false"
	}
	return fmt.Sprintf("{ below = %s, wait = %d, keep = %d }", tomlFloat(*a.below), *a.wait, *a.keep)
}
