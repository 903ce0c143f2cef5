package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/kestrel/kernelspace"
)

// expression is one kernel expression.
type expression struct{ p *string }

func (x expression) set(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("must be a kernel expression in quotes, not %s", shown(v))
	}
	if s != "" {
		if _, err := kernelspace.Parse(s); err != nil {
			return fmt.Errorf("is wrong: %w", err)
		}
	}
	*x.p = s
	return nil
}

func (x expression) toml() string { return textValue{p: x.p}.toml() }

// expressions is a list of kernel expressions.
type expressions struct{ p *[]string }

func (x expressions) set(v any) error {
	if s, ok := v.(string); ok { // as --set kernels.base=SE,RQ
		v = splitList(s)
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return fmt.Errorf("must be a list of kernel expressions, not %s", shown(v))
	}
	var out []string
	for i, e := range list {
		var s string
		if err := (expression{&s}).set(e); err != nil {
			return &elementError{i, err}
		}
		if s == "" {
			return &elementError{i, fmt.Errorf("has an empty expression")}
		}
		out = append(out, s)
	}
	*x.p = out
	return nil
}

func (x expressions) toml() string { return texts(x).toml() }

// SplitKernels splits at commas outside of brackets.
func SplitKernels(s string) (out []string) {
	level, start := 0, 0
	for i, r := range s {
		switch {
		case r == '[' || r == '(':
			level++
		case r == ']' || r == ')':
			level--
		case r == ',' && level == 0:
			out = append(out, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// splitList is SplitKernels for what takes values of any kind.
func splitList(s string) (out []any) {
	for _, part := range SplitKernels(s) {
		out = append(out, part)
	}
	return out
}

// kernelSet is the name of a kernel space.
type kernelSet struct{ p *string }

func (k kernelSet) set(v any) error {
	s, ok := v.(string)
	names := setNames()
	for _, name := range names {
		if ok && strings.EqualFold(s, name) {
			*k.p = name
			return nil
		}
	}
	return textValue{p: k.p, options: names}.set(v)
}

func (k kernelSet) toml() string { return textValue{p: k.p}.toml() }

// weights are prior weights by kernel expression.
type weights struct{ p *map[string]float64 }

func (w weights) set(v any) error {
	table, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf(`must be a table such as {"SE*PER" = 2.0}, not %s`, shown(v))
	}
	out := map[string]float64{}
	for text, v := range table {
		if _, err := kernelspace.Parse(text); err != nil {
			return fmt.Errorf("is wrong: %w", err)
		}
		var f float64
		if err := (real{&f, 0, 1e12, true}).set(v); err != nil {
			return fmt.Errorf("has a wrong entry: the weight of %s %w", text, err)
		}
		out[text] = f
	}
	*w.p = out
	return nil
}

func (w weights) toml() string {
	if len(*w.p) == 0 {
		return ""
	}
	var parts []string
	for _, text := range slices.Sorted(maps.Keys(*w.p)) {
		parts = append(parts, quoteTOML(text)+" = "+tomlFloat((*w.p)[text]))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}
