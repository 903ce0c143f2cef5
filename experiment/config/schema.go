package config

import (
	"fmt"
	"math"
	"strings"

	toml "github.com/pelletier/go-toml/v2"

	"example.com/kestrel/datasets"
)

// Key says of a key what a person or an editor wants to know.
type Key struct {
	Path    string   // section.name
	About   string   // one line
	Choices []string // what it, or a member of its list, may be where that is one of few; nil: anything else
}

// Keys lists all keys, in the order in which a config is written.
func Keys() []Key {
	c := Default()
	var out []Key
	for _, k := range c.keys() {
		out = append(out, Key{k.path(), k.about, choices(k.value)})
	}
	return out
}

// choices are the texts of which a value, or a member of a list, is one.
func choices(v value) []string {
	switch v := v.(type) {
	case textValue:
		return v.options
	case chosen:
		return v.options
	case methods:
		return MethodNames()
	case kernelSet:
		return setNames()
	case flag:
		return []string{"true", "false"}
	case autoWhole, autoReal:
		return []string{autoText}
	case compareBudget:
		return []string{asVBKS}
	case autoPrune:
		return []string{"false"}
	}
	return nil
}

// schema is a JSON schema or a part of one.
type schema = map[string]any

// Schema is the JSON schema (draft 2020-12) of a config, for editors. What it refuses the
// program refuses, but for the case of the names of kernel spaces; the program knows more:
// expressions, files, and keys that depend on each other.
func Schema() map[string]any {
	c := Default()
	top := closed()
	for _, k := range c.keys() {
		into := top
		if k.section != "" {
			sections := top["properties"].(schema)
			if sections[k.section] == nil {
				sections[k.section] = closed()
			}
			into = sections[k.section].(schema)
		}
		s := schemaOf(k.value)
		s["description"] = k.about
		if d, ok := defaultOf(k.value); ok {
			s["default"] = d
		}
		into["properties"].(schema)[k.name] = s
	}
	either := func(a, b string) schema { return schema{"required": []string{a, b}} }
	kernels := top["properties"].(schema)["kernels"].(schema)
	kernels["not"] = schema{"anyOf": []schema{either("set", "expressions"), either("set", "base"), either("set", "depth"),
		either("expressions", "base"), either("expressions", "depth")}}
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["title"] = "A config of kestrel"
	return top
}

// closed is the schema of a table with no other keys than its properties.
func closed() schema {
	return schema{"type": "object", "additionalProperties": false, "properties": schema{}}
}

// defaultOf is what a key has that is not stated.
func defaultOf(v value) (any, bool) {
	text := v.toml()
	if text == "" {
		return nil, false
	}
	var tree map[string]any
	if err := toml.Unmarshal([]byte("v = "+text), &tree); err != nil {
		panic("config: a default is no TOML: " + err.Error())
	}
	return tree["v"], true
}

// A time as time.ParseDuration reads it, and without a sign.
const durationPattern = `^\+?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

// schemaOf is the schema of what the set of a value takes.
func schemaOf(v value) schema {
	text := schema{"type": "string"}
	filled := schema{"type": "string", "minLength": 1}
	name := func() schema { return schema{"type": []string{"string", "integer"}} }
	switch v := v.(type) {
	case textValue:
		switch {
		case v.options != nil:
			return schema{"type": "string", "enum": v.options}
		case v.match != nil:
			return schema{"type": "string", "pattern": v.match.String()}
		}
		return text
	case expression:
		return text
	case kernelSet:
		return schema{"type": "string", "enum": setNames()}
	case flag:
		return schema{"type": "boolean"}
	case seed:
		return schema{"type": "integer", "minimum": 0}
	case whole:
		return integers(v.lo, v.hi)
	case depth:
		return integers(1, 8)
	case autoWhole:
		return anyOf(schema{"const": autoText}, integers(v.lo, v.hi))
	case real:
		return numbers(v)
	case autoReal:
		return anyOf(schema{"const": autoText}, numbers(real(v)))
	case reals:
		return list(schema{"type": "number", "exclusiveMinimum": 0}, 0)
	case interval:
		return schema{"type": "array", "items": schema{"type": "number"}, "minItems": 2, "maxItems": 2}
	case texts:
		return list(text, 0)
	case column:
		return name()
	case columns:
		return anyOf(name(), list(name(), 0))
	case dataPath:
		return anyOf(text, list(filled, 1))
	case expressions:
		return anyOf(filled, list(filled, 1))
	case chosen:
		return anyOf(list(schema{"type": "string", "enum": v.options}, 0), schema{"type": "string", "pattern": listPattern(v.options, "?")})
	case methods:
		names := list(schema{"type": "string", "enum": MethodNames()}, 1)
		names["uniqueItems"] = true
		return anyOf(names, schema{"type": "string", "pattern": listPattern(MethodNames(), "")})
	case columnTypes:
		return schema{"type": "object", "additionalProperties": schema{"type": "string", "enum": datasets.ColumnTypes()}}
	case weights:
		return schema{"type": "object", "additionalProperties": numbers(real{hi: 1e12, open: true})}
	case testRows:
		return anyOf(integers(0, many), schema{"type": "number", "minimum": 0, "exclusiveMaximum": 1})
	case budget:
		return anyOf(integers(0, many), schema{"type": "string", "pattern": durationPattern})
	case compareBudget:
		return anyOf(schema{"const": asVBKS}, integers(1, many), schema{"type": "string", "pattern": durationPattern})
	case pruningValue:
		return pruningTable()
	case namesOf[Quantity]:
		return ofNames(quantities())
	case namesOf[[2]Quantity]:
		return ofNames(schema{"type": "array", "items": quantities(), "minItems": 2, "maxItems": 2})
	case namesOf[Likely]:
		return ofNames(schema{"type": "object", "additionalProperties": false, "required": []string{"median", "factor"},
			"properties": schema{"median": quantities(), "factor": numbers(real{lo: 1, hi: 1e12, open: true})}})
	case autoPrune:
		return anyOf(schema{"enum": []any{false, 0}}, pruningTable())
	}
	panic(fmt.Sprintf("config: schemaOf does not know %T", v))
}

// quantities are numbers, or ones with units.
func quantities() schema {
	return anyOf(schema{"type": "number"}, schema{"type": "string", "pattern": `\S`})
}

// ofNames is a table of hyperparameters: noise, and of a base kernel a text such as
// "PER.period[date]" or, of the key PER.period, a table in a table.
func ofNames(of schema) schema {
	return schema{"type": "object", "additionalProperties": false, "patternProperties": schema{
		"^noise(_variance)?$": of, `\.`: of,
		"^[A-Z][A-Z0-9]*(#[1-9][0-9]*)?$": schema{"type": "object", "additionalProperties": of},
	}}
}

func anyOf(of ...schema) schema { return schema{"anyOf": of} }

func list(of schema, least int) schema {
	s := schema{"type": "array", "items": of}
	if least > 0 {
		s["minItems"] = least
	}
	return s
}

func integers(lo, hi int) schema { return schema{"type": "integer", "minimum": lo, "maximum": hi} }

func numbers(r real) schema {
	s := schema{"type": "number"}
	switch {
	case math.IsInf(r.lo, 0):
	case r.open:
		s["exclusiveMinimum"] = r.lo
	default:
		s["minimum"] = r.lo
	}
	if !math.IsInf(r.hi, 0) {
		s["maximum"] = r.hi
	}
	return s
}

// listPattern matches texts with options between commas; so many stands behind the list.
func listPattern(options []string, many string) string {
	one := `\s*(` + strings.Join(options, "|") + `)\s*`
	return "^(" + one + "(," + one + ")*)" + many + "$"
}

// pruningTable is the table of an autoPrune.
func pruningTable() schema {
	return schema{
		"type": "object", "additionalProperties": false, "required": []string{"below"},
		"properties": schema{
			"below": numbers(real{hi: 1, open: true}), "wait": integers(1, many), "keep": integers(1, many),
		},
	}
}
