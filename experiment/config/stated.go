package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/kernelspace"
)

// Stated is what a config says of hyperparameters, by their names
// (kernelspace.ParamName), in data units.
type Stated struct {
	Fix   map[string]Quantity
	Bound map[string][2]Quantity
	Prior map[string]Likely
}

// Quantity is a number, or one with a unit as a text.
type Quantity string

// Likely is a normal prior on the logarithm: its median, and how many times as much or as
// little is one standard deviation away.
type Likely struct {
	Median Quantity
	Factor float64
}

// Empty reports whether nothing is said.
func (s *Stated) Empty() bool { return len(s.Fix)+len(s.Bound)+len(s.Prior) == 0 }

// Names are those of which something is said, each with the key that says it.
func (s *Stated) Names() map[string]string {
	out := map[string]string{}
	for _, t := range s.tables() {
		for _, name := range t.names {
			out[name] = t.key
		}
	}
	return out
}

// statedTable is a key with the names below it, in order.
type statedTable struct {
	key   string
	names []string
}

func (s *Stated) tables() []statedTable {
	return []statedTable{{fixKey, keysOf(s.Fix)}, {boundKey, keysOf(s.Bound)}, {priorKey, keysOf(s.Prior)}}
}

// OfTarget reports whether something is said in the units of the target.
func (s *Stated) OfTarget() bool {
	for name := range s.Names() {
		n, err := kernelspace.ParseParamName(name)
		if err == nil && n.Variance() {
			return true
		}
	}
	return false
}

// Take takes over what another one says of a name.
func (s *Stated) Take(from *Stated, name string) {
	take(&s.Fix, from.Fix, name)
	take(&s.Bound, from.Bound, name)
	take(&s.Prior, from.Prior, name)
}

func take[V any](to *map[string]V, from map[string]V, name string) {
	if v, ok := from[name]; ok {
		if *to == nil {
			*to = map[string]V{}
		}
		(*to)[name] = v
	}
}

func (s *Stated) clone() Stated {
	return Stated{maps.Clone(s.Fix), maps.Clone(s.Bound), maps.Clone(s.Prior)}
}

const (
	fixKey   = "optimise.fix"
	boundKey = "optimise.bound"
	priorKey = "optimise.prior"
)

// contradiction finds a hyperparameter of which two tables say something.
func (s *Stated) contradiction() (first, second string) {
	said := map[string]string{}
	for _, t := range s.tables() {
		for _, name := range t.names {
			if other := said[name]; other != "" {
				return other + "." + name, t.key + "." + name
			}
			said[name] = t.key
		}
	}
	return "", ""
}

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// namesOf is a table with names of hyperparameters as keys, each of which is a key of the
// config, too: optimise.fix.PER.period.
type namesOf[V any] struct {
	p    *map[string]V
	read func(v any) (V, error)
	text func(V) string
}

// byName is what a table of names can besides.
type byName interface {
	value
	name(text string) (string, error)
	put(name string, v any) error
	drop(name string)
}

func (n namesOf[V]) set(v any) error {
	table, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("must be a table with names of hyperparameters, such as PER.period, not %s", shown(v))
	}
	*n.p = nil
	for _, e := range flat("", table) {
		name, err := n.name(e.name)
		if err != nil {
			return fmt.Errorf("has a wrong entry: %w", err)
		}
		if _, twice := (*n.p)[name]; twice {
			return fmt.Errorf("has %s twice", name)
		}
		if err := n.put(name, e.value); err != nil {
			return fmt.Errorf("has a wrong entry: %s %w", name, err)
		}
	}
	return nil
}

// name writes the name of a hyperparameter in the one way that equal ones have.
func (n namesOf[V]) name(text string) (string, error) {
	name, err := kernelspace.ParseParamName(text)
	return name.String(), err
}

func (n namesOf[V]) put(name string, v any) error {
	value, err := n.read(v)
	if err != nil {
		return err
	}
	if *n.p == nil {
		*n.p = map[string]V{}
	}
	(*n.p)[name] = value
	return nil
}

func (n namesOf[V]) drop(name string) { delete(*n.p, name) }

func (n namesOf[V]) toml() string {
	if len(*n.p) == 0 {
		return ""
	}
	var parts []string
	for _, name := range keysOf(*n.p) {
		parts = append(parts, quoteTOML(name)+" = "+n.text((*n.p)[name]))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// flatEntry is a value below a table, by its dotted name.
type flatEntry struct {
	name  string
	value any
}

// flat lists what a table of names holds: PER.period without quotes is a table of its own.
func flat(prefix string, table map[string]any) (out []flatEntry) {
	for _, name := range keysOf(table) {
		sub, ok := table[name].(map[string]any)
		_, median := sub["median"]
		_, factor := sub["factor"]
		if ok && !median && !factor && len(sub) > 0 {
			out = append(out, flat(prefix+name+".", sub)...)
			continue
		}
		out = append(out, flatEntry{prefix + name, table[name]})
	}
	return out
}

// quantity reads a number, or a text, of which the unit is not looked at.
func quantity(v any) (Quantity, error) {
	if f, ok := number(v); ok {
		return Quantity(files.FormatFloat(f)), nil
	}
	if s, ok := v.(string); ok && strings.TrimSpace(s) != "" {
		return Quantity(strings.TrimSpace(s)), nil
	}
	return "", fmt.Errorf(`must be a number or a text such as "7 d", not %s`, shown(v))
}

func (q Quantity) toml() string {
	if f, err := strconv.ParseFloat(string(q), 64); err == nil && files.FormatFloat(f) == string(q) {
		return tomlFloat(f)
	}
	return quoteTOML(string(q))
}

func fixed(p *map[string]Quantity) byName {
	return namesOf[Quantity]{p, quantity, Quantity.toml}
}

func bounded(p *map[string][2]Quantity) byName {
	read := func(v any) (out [2]Quantity, err error) {
		list, ok := v.([]any)
		if !ok || len(list) != 2 {
			return out, fmt.Errorf(`must be a list of two, such as ["2 d", "10 d"], not %s`, shown(v))
		}
		for i := range out {
			if out[i], err = quantity(list[i]); err != nil {
				return out, err
			}
		}
		return out, nil
	}
	return namesOf[[2]Quantity]{p, read, func(b [2]Quantity) string { return "[" + b[0].toml() + ", " + b[1].toml() + "]" }}
}

func likely(p *map[string]Likely) byName {
	read := func(v any) (out Likely, err error) {
		table, ok := v.(map[string]any)
		if !ok || len(table) != 2 || table["median"] == nil || table["factor"] == nil {
			return out, fmt.Errorf(`must be a table with both, as in {median = "7 d", factor = 1.5}, not %s`, shown(v))
		}
		if out.Median, err = quantity(table["median"]); err != nil {
			return out, fmt.Errorf("has a wrong median: it %w", err)
		}
		if err := (real{&out.Factor, 1, 1e12, true}).set(table["factor"]); err != nil {
			return out, fmt.Errorf("has a wrong factor: it %w", err)
		}
		return out, nil
	}
	return namesOf[Likely]{p, read, func(l Likely) string {
		return "{ median = " + l.Median.toml() + ", factor = " + tomlFloat(l.Factor) + " }"
	}}
}

// beside finds the key of a table of names that a path leads into, and the name; nil: there
// is none.
func beside(path string, keys []key) (table byName, at, name string) {
	for _, k := range keys {
		if t, ok := k.value.(byName); ok {
			if rest, in := strings.CutPrefix(path, k.path()+"."); in {
				return t, k.path(), rest
			}
		}
	}
	return nil, "", ""
}

// stateOne sets one name of a table of names: an override replaces what the file says.
func stateOne(e entry, keys []key, given map[string]entry) (known bool, err error) {
	table, at, text := beside(e.path, keys)
	if table == nil {
		return false, nil
	}
	name, err := table.name(text)
	if err != nil {
		return true, e.wrong(at, fmt.Errorf("is wrong: %w", err))
	}
	for _, key := range []string{fixKey, boundKey, priorKey} {
		other, stands := given[key+"."+name]
		if !stands {
			continue
		}
		if other.override == e.override {
			return true, e.wrong(at+"."+name, fmt.Errorf("stands beside %s.%s; leave one out", key, name))
		}
		delete(given, key+"."+name)
		for _, k := range keys {
			if t, ok := k.value.(byName); ok && k.path() == key {
				t.drop(name)
			}
		}
	}
	if err := table.put(name, e.value); err != nil {
		return true, e.wrong(at+"."+name, err)
	}
	given[at+"."+name] = e
	return true, nil
}
