package config

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	toml "github.com/pelletier/go-toml/v2"

	"example.com/kestrel/configs"
	"example.com/kestrel/internal/must"
)

// valid checks a value against a schema, both as JSON is decoded, by the words of JSON
// Schema's draft 2020-12 that Schema uses; another word is an error.
func valid(s map[string]any, v any) error {
	number, isNumber := v.(float64)
	text, isText := v.(string)
	items, isList := v.([]any)
	object, isObject := v.(map[string]any)
	limit := func(word string) float64 { return s[word].(float64) }
	for word, arg := range s {
		bad := false
		switch word {
		case "$schema", "title", "description", "default", "additionalProperties", "patternProperties":
		case "type":
			names, several := arg.([]any)
			if !several {
				names = []any{arg}
			}
			bad = !slices.ContainsFunc(names, func(name any) bool {
				_, isBool := v.(bool)
				return map[string]bool{"string": isText, "number": isNumber, "integer": isNumber && number == math.Trunc(number),
					"boolean": isBool, "array": isList, "object": isObject}[name.(string)]
			})
		case "enum":
			bad = !slices.ContainsFunc(arg.([]any), func(one any) bool { return reflect.DeepEqual(one, v) })
		case "const":
			bad = !reflect.DeepEqual(arg, v)
		case "pattern":
			bad = isText && !regexp.MustCompile(arg.(string)).MatchString(text)
		case "minLength":
			bad = isText && float64(len([]rune(text))) < limit(word)
		case "minimum":
			bad = isNumber && number < limit(word)
		case "maximum":
			bad = isNumber && number > limit(word)
		case "exclusiveMinimum":
			bad = isNumber && number <= limit(word)
		case "exclusiveMaximum":
			bad = isNumber && number >= limit(word)
		case "minItems":
			bad = isList && float64(len(items)) < limit(word)
		case "maxItems":
			bad = isList && float64(len(items)) > limit(word)
		case "uniqueItems":
			for i, one := range items {
				bad = bad || slices.ContainsFunc(items[:i], func(other any) bool { return reflect.DeepEqual(one, other) })
			}
		case "items":
			for _, one := range items {
				if err := valid(arg.(map[string]any), one); err != nil {
					return err
				}
			}
		case "required":
			for _, name := range arg.([]any) {
				_, there := object[name.(string)]
				bad = bad || isObject && !there
			}
		case "properties":
			for name, of := range arg.(map[string]any) {
				if one, there := object[name]; there {
					if err := valid(of.(map[string]any), one); err != nil {
						return fmt.Errorf("%s: %w", name, err)
					}
				}
			}
		case "anyOf":
			bad = !slices.ContainsFunc(arg.([]any), func(of any) bool { return valid(of.(map[string]any), v) == nil })
		case "not":
			bad = valid(arg.(map[string]any), v) == nil
		default:
			return fmt.Errorf("the test does not know %q", word)
		}
		if bad {
			return fmt.Errorf("%v is not %s %v", v, word, arg)
		}
	}
	rest, stated := s["additionalProperties"]
	named, _ := s["properties"].(map[string]any)
	patterns, _ := s["patternProperties"].(map[string]any)
	for name, one := range object {
		matched := false
		for pattern, of := range patterns {
			if regexp.MustCompile(pattern).MatchString(name) {
				matched = true
				if err := valid(of.(map[string]any), one); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		if matched || named[name] != nil || !stated {
			continue
		}
		of, isSchema := rest.(map[string]any)
		if !isSchema {
			return fmt.Errorf("there is no %q", name)
		}
		if err := valid(of, one); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// decoded is a value as it comes out of JSON.
func decoded(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	must.OK(t, err)
	var out any
	must.OK(t, json.Unmarshal(text, &out))
	return out
}

func schemaOfConfig(t *testing.T) map[string]any { return decoded(t, Schema()).(map[string]any) }

func tree(t *testing.T, text string) any {
	t.Helper()
	var out map[string]any
	must.OK(t, toml.Unmarshal([]byte(text), &out))
	return decoded(t, out)
}

// What is shipped, as it is written and with every default, fits the schema; what is
// wrong does not.
func TestSchemaOfConfigs(t *testing.T) {
	s := schemaOfConfig(t)
	for _, name := range configs.Names() {
		text, _ := configs.Read(name)
		c, err := Load(name, nil)
		must.OK(t, err)
		for _, text := range []string{string(text), c.TOML()} {
			if err := valid(s, tree(t, text)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, text := range []string{
		"seeds = 3", "seed = -1", "seed = \"1\"", "name = \"a b\"", "[data]\nsource = \"cvs\"", "[data]\npat = \"x.csv\"", "[dta]\npath = \"x\"",
		"[data]\ntest = 1.5", "[data]\ntest = -3", "[data]\nsha256 = \"00\"", "[data]\ntransform_bounds = [1]", "[data]\nparams = [1.0, 0.0]",
		"[data]\ncalendar = [\"hours\"]", "[kernels]\nset = \"K13\"", "[kernels]\nset = \"K12\"\nexpressions = [\"SE\"]",
		"[kernels]\nexpressions = []",
		"[kernels]\nset = \"K12\"\ndepth = 3", "[kernels]\nweights = {SE = 0}", "[sparse]\ninducing = 0", "[sparse]\ninducing = \"many\"",
		"[schedule]\nbudget = \"soon\"", "[schedule]\nevaluate_every = 0", "[posterior]\nauto_prune = true",
		"[posterior]\nauto_prune = {wait = 3}",
		"[posterior]\nauto_prune = {below = 0.1, wait = 0}", "[compare]\nmethods = [\"bo\", \"bo\"]", "[compare]\nprune = false",
		"device = \"cpu\"",
	} {
		if valid(s, tree(t, text)) == nil {
			t.Errorf("%q fits the schema", text)
		}
		if _, err := load(t, text, "data.path=x.csv"); err == nil {
			t.Errorf("%q is a config", text)
		}
	}
}

// Of every key, the schema takes what the program takes. What it takes besides is known:
// words that only the program understands. (To JSON 3.0 is a whole number, to TOML it is
// none.)
func TestSchemaAgrees(t *testing.T) {
	s := schemaOfConfig(t)
	probes := []string{
		"0", "1", "-1", "3", "8", "9", "40", "4097", "2000000000", "0.5", "1.5", "-0.5", "1000000000000.5", "true", "false", "{}", "[]", "[1]",
		"[1, 2]", "[2.5, -1]", "[0.5, 0.25, 7]", `""`, `"auto"`, `"yes"`, `"SE"`, `"SE+"`, `[""]`, `["SE"]`, `["SE", "PER*LIN"]`, `"none"`,
		`"10m"`, `"1h30m"`, `"0s"`, `"-5s"`, `"+.5s"`, `"5"`, `"vbks"`, `"vbks,bo"`, `["vbks", "bo"]`, `["bo", "bo"]`, `"hour"`,
		`"hour, weekday"`,
		`["hour"]`, `"hour,"`, `"K12"`, `"x y"`, `["a", 3]`, `[[1]]`, `{SE = 2}`, `{SE = -1}`, `{below = 0.1}`,
		`{below = 0.1, wait = 2, keep = 1}`,
		`{below = 2}`, `{below = 0.1, more = 1}`, `{wait = 1}`, `"` + strings.Repeat("0a", 32) + `"`, `"full"`, `"cpu"`, `["a:b"]`,
	}
	// What the schema takes and the program does not: kernels, times of 0, methods said
	// twice in a text, bounds in the wrong order.
	own := regexp.MustCompile(`is wrong: |empty expression|such as "90s"|"bo" twice|the lower one first`)
	c := Default()
	for _, k := range c.keys() {
		of := s["properties"].(map[string]any)
		if k.section != "" {
			of = of[k.section].(map[string]any)["properties"].(map[string]any)
		}
		one := of[k.name].(map[string]any)
		if one["description"] == "" {
			t.Errorf("%s has no description", k.path())
		}
		if d, ok := one["default"]; ok && valid(one, d) != nil {
			t.Errorf("the default of %s, %v, does not fit its schema", k.path(), d)
		}
		for _, p := range probes {
			var in map[string]any
			must.OK(t, toml.Unmarshal([]byte("v = "+p), &in))
			fits := valid(one, decoded(t, in["v"])) == nil
			if err := k.value.set(in["v"]); (err == nil) != fits && !(fits && own.MatchString(err.Error())) {
				t.Errorf("%s = %s: the schema says %t, the program %v", k.path(), p, fits, err)
			}
		}
	}
}
