package record_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
)

// docs/format.md names every field of an event, and no other.
func TestFormatPageHasFields(t *testing.T) {
	want := jsonPaths(reflect.TypeFor[record.Event](), "", map[reflect.Type]bool{})
	got := recordtest.PageNames(t, "### Fields")
	for _, path := range want {
		if !slices.Contains(got, path) {
			t.Errorf("docs/format.md lacks the field %s of an event", path)
		}
	}
	for i, path := range got {
		if !slices.Contains(want, path) {
			t.Errorf("docs/format.md has a field %s, an event has not", path)
		}
		if slices.Contains(got[:i], path) {
			t.Errorf("docs/format.md has the field %s twice", path)
		}
	}
}

// jsonPaths lists the keys of a struct as JSON and of those below it, such as
// "metrics[].rmse"; one that is there in two places is listed in the first.
func jsonPaths(s reflect.Type, prefix string, seen map[reflect.Type]bool) (paths []string) {
	for i := range s.NumField() {
		f := s.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "-" || !f.IsExported() {
			continue
		}
		if key == "" {
			key = f.Name
		}
		path, below := prefix+key, f.Type
		paths = append(paths, path)
		for below.Kind() == reflect.Pointer || below.Kind() == reflect.Slice {
			if below.Kind() == reflect.Slice {
				path += "[]"
			}
			below = below.Elem()
		}
		if below.Kind() == reflect.Struct && below != reflect.TypeFor[time.Time]() && !seen[below] {
			seen[below] = true
			paths = append(paths, jsonPaths(below, path+".", seen)...)
		}
	}
	return paths
}

// It names every type of event that a log can hold, and what code goes by.
func TestFormatPageHasTypes(t *testing.T) {
	types := constants(t, "EventType")
	types = slices.DeleteFunc(types, func(name string) bool { return name == string(record.EventAnew) })
	got := recordtest.PageNames(t, "### Types")
	slices.Sort(types)
	slices.Sort(got)
	if !slices.Equal(got, types) {
		t.Errorf("docs/format.md has the types %q, there are %q", got, types)
	}
	text := recordtest.Page(t, "### Types")
	for _, name := range slices.Concat(constants(t, "Cause"), constants(t, "State")) {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/format.md lacks %s", name)
		}
	}
}

// constants returns the values of the constants of a type, a text, in this
// package.
func constants(t *testing.T, name string) (values []string) {
	t.Helper()
	sources, err := filepath.Glob("*.go")
	must.OK(t, err)
	for _, path := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		must.OK(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != name {
				return false
			}
			for _, v := range spec.Values {
				text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
				must.OK(t, err)
				values = append(values, text)
			}
			return false
		})
	}
	if len(values) == 0 {
		t.Fatalf("there is no constant of type %s", name)
	}
	return values
}
