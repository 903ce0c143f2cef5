package serve

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/record/recordtest"
)

// docs/format.md has the fields of questions and answers, and no others.
func TestFormatPageHasQuestions(t *testing.T) {
	var fields []string
	for _, of := range []reflect.Type{reflect.TypeFor[question](), reflect.TypeFor[answer]()} {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			fields = append(fields, name)
		}
	}
	named := recordtest.PageNames(t, "## Questions over HTTP")
	named = slices.DeleteFunc(named, func(name string) bool { return strings.Contains(name, " /") }) // paths
	slices.Sort(fields)
	slices.Sort(named)
	if !slices.Equal(fields, named) {
		t.Errorf("docs/format.md has %q, the program %q", named, fields)
	}
}
