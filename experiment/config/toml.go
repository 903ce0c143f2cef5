package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	toml "github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// entry is one key as it was given.
type entry struct {
	path     string // "schedule.steps"
	value    any
	where    string // "fig1a.toml: line 12", or the override
	override bool
	raw      string   // of an override: its text
	elements []string // of a list: where each element stands
}

// at returns where the thing stands that an error is about.
func (e entry) at(err error) string {
	var el *elementError
	if errors.As(err, &el) && el.index < len(e.elements) {
		return e.elements[el.index]
	}
	return e.where
}

// wrong makes the error of a key, or of another one that it is about and that the
// error's text goes on from; "" if the text stands alone.
func (e entry) wrong(about string, err error) error {
	switch {
	case e.override:
		return &OverrideError{Override{Key: e.path, Value: e.raw, Flag: e.where}, about, err}
	case about != "":
		return fmt.Errorf("%s: %s %w", e.at(err), about, err)
	}
	return fmt.Errorf("%s: %w", e.where, err)
}

// OverrideError is what is wrong with an override.
type OverrideError struct {
	Override
	About string // the key that Err goes on from, as a rule the override's; "" if Err stands alone
	Err   error
}

func (e *OverrideError) Error() string {
	if e.About == "" {
		return e.Flag + ": " + e.Err.Error()
	}
	return e.Flag + ": " + e.About + " " + e.Err.Error()
}

func (e *OverrideError) Unwrap() error { return e.Err }

// parseTOML reads a document into its keys, sections flattened, in the order of
// their lines.
func parseTOML(text []byte, file string) ([]entry, error) {
	// The places first: Unmarshal takes time with the square of the number of
	// keys. It says better what is wrong with text that is not TOML.
	places, placesErr := keyPlaces(text, file)
	var foreign *foreignError
	if errors.As(placesErr, &foreign) {
		return nil, placesErr
	}
	var tree map[string]any
	if err := toml.Unmarshal(text, &tree); err != nil {
		var de *toml.DecodeError
		if errors.As(err, &de) {
			line, col := de.Position()
			return nil, fmt.Errorf("%s: line %d, column %d: %s", file, line, col, strings.TrimPrefix(de.Error(), "toml: "))
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if placesErr != nil {
		return nil, placesErr
	}
	c := Default()
	keys := c.keys()
	isSection := func(s string) bool {
		return slices.ContainsFunc(keys, func(k key) bool { return k.section == s })
	}
	isTable := func(path string) bool {
		return slices.ContainsFunc(keys, func(k key) bool { _, ok := k.value.(byName); return ok && k.path() == path })
	}
	var entries []entry
	line := func(path string) (p place) {
		for q := path; ; {
			if p, ok := places[q]; ok {
				return p
			}
			i := strings.LastIndexByte(q, '.')
			if i < 0 {
				return place{where: file}
			}
			q = q[:i]
		}
	}
	add := func(path string, v any) {
		p := line(path)
		if section, _, dotted := strings.Cut(path, "."); dotted && !isSection(section) {
			p = line(section)
		}
		entries = append(entries, entry{path: path, value: v, where: p.where, elements: p.elements})
	}
	for name, v := range tree {
		table, ok := v.(map[string]any)
		switch {
		case ok:
			if len(table) == 0 && !isSection(name) {
				add(name+".", nil) // an unknown section, empty
			}
			for sub, v := range table {
				if names, ok := v.(map[string]any); ok && isTable(name+"."+sub) {
					for _, e := range flat(name+"."+sub+".", names) {
						add(e.name, e.value)
					}
					continue
				}
				add(name+"."+sub, v)
			}
		case isSection(name):
			return nil, fmt.Errorf("%s: %s is a section; write [%s] on a line of its own", line(name).where, name, name)
		default:
			add(name, v)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if d := line(a.path).number - line(b.path).number; d != 0 {
			return d
		}
		return strings.Compare(a.path, b.path)
	})
	return entries, nil
}

// place is where a key stands.
type place struct {
	number   int
	where    string
	elements []string
}

// foreignError is about TOML that is no config.
type foreignError struct{ where, what string }

func (e *foreignError) Error() string { return e.where + ": " + e.what }

// mostKeys is more than any config has, a prior weight for each of many kernels
// included.
const mostKeys = 10_000

// countKeys counts the keys in a value.
func countKeys(v *unstable.Node) (n int) {
	switch v.Kind {
	case unstable.KeyValue:
		n = 1 + countKeys(v.Value())
	case unstable.Array, unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			n += countKeys(it.Node())
		}
	}
	return n
}

// keyPlaces finds the line of every key, by its dotted path.
func keyPlaces(text []byte, file string) (map[string]place, error) {
	places := map[string]place{}
	var p unstable.Parser
	p.Reset(text)
	line, counted := 1, 0 // lines begun before the byte counted
	at := func(n *unstable.Node) place {
		begin := int(n.Raw.Offset)
		if begin < counted {
			line, counted = 1, 0
		}
		line += bytes.Count(text[counted:begin], []byte{'\n'})
		counted = begin
		return place{number: line, where: fmt.Sprintf("%s: line %d", file, line)}
	}
	prefix := ""
	keys := 0
	for p.NextExpression() {
		e := p.Expression()
		keys += max(1, countKeys(e))
		if keys > mostKeys {
			return nil, &foreignError{file, fmt.Sprintf("has more than %d keys and sections; it is no config", mostKeys)}
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			path, first := joinKey(e.Key())
			if first != nil {
				places[path] = at(first)
			}
			if e.Kind == unstable.ArrayTable {
				return nil, &foreignError{places[path].where, fmt.Sprintf("[[%s]] is a list of tables, which no config has; write [%s]", path, path)}
			}
			prefix = path + "."
		case unstable.KeyValue:
			path, first := joinKey(e.Key())
			if first == nil {
				continue
			}
			found := at(first)
			if v := e.Value(); v.Kind == unstable.Array {
				for it := v.Children(); it.Next(); {
					where := found.where
					if it.Node().Kind != unstable.Comment && it.Node().Raw.Length > 0 {
						where = at(it.Node()).where
					}
					if it.Node().Kind != unstable.Comment {
						found.elements = append(found.elements, where)
					}
				}
			}
			places[prefix+path] = found
		}
	}
	if err := p.Error(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return places, nil
}

func joinKey(it unstable.Iterator) (path string, first *unstable.Node) {
	var parts []string
	for it.Next() {
		if first == nil {
			first = it.Node()
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), first
}

// Override is a setting from the command line. Its value is TOML; what is not,
// is a text.
type Override struct {
	Key, Value string
	Flag       string // as the user wrote it, for messages
}

// ParseOverride reads "section.key=value".
func ParseOverride(s string) (Override, error) {
	o := Override{Flag: "--set " + s}
	var ok bool
	o.Key, o.Value, ok = strings.Cut(s, "=")
	o.Key, o.Value = strings.TrimSpace(o.Key), strings.TrimSpace(o.Value)
	if !ok || o.Key == "" {
		return o, fmt.Errorf("%s: write section.key=value, such as schedule.steps=50", o.Flag)
	}
	return o, nil
}

// ParseOverrides reads several.
func ParseOverrides(all []string) (out []Override, err error) {
	for _, s := range all {
		o, err := ParseOverride(s)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func (o Override) entry() entry {
	e := entry{path: o.Key, where: o.Flag, override: true, value: o.Value, raw: o.Value}
	var tree map[string]any
	if err := toml.Unmarshal([]byte("v = "+o.Value), &tree); err == nil && len(tree) == 1 {
		switch v := tree["v"].(type) {
		case int64, float64, bool, string, []any, map[string]any:
			e.value = v
		}
	}
	return e
}
