package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/kestrel/datasets"
)

// columnTypes are what columns are taken for, by their names.
type columnTypes struct{ p *map[string]string }

func (c columnTypes) set(v any) error {
	table, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf(`must be a table such as {room = "levels"}, not %s`, shown(v))
	}
	out := map[string]string{}
	for name, v := range table {
		as, _ := v.(string)
		if !slices.Contains(datasets.ColumnTypes(), as) {
			return fmt.Errorf("has a wrong entry: %s must be one of %s, not %s", name, quotedList(datasets.ColumnTypes()), shown(v))
		}
		out[name] = as
	}
	*c.p = out
	return nil
}

func (c columnTypes) toml() string {
	if len(*c.p) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(*c.p)) {
		parts = append(parts, quoteTOML(name)+" = "+quoteTOML((*c.p)[name]))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}
