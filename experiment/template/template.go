// Package template fills texts with values: the part of Go's templates that the pages and
// programs of this one need, in its notation and with its results.
//
//	{{.}} {{.Name}} {{$x}}              a value
//	{{$x := .Name}}                     a value with a name
//	{{if A}} … {{else}} … {{end}}       where A is not empty; {{if or A B}}: where one of them is not
//	{{with A}} … {{end}}                the same, A being the dot within
//	{{range A}} … {{end}}               for each entry of a slice, which is the dot within
//
// Values are fields of structs and entries of maps, no methods and no functions: text/template
// calls methods by names that are found out while it runs, for which the linker keeps every
// exported method of every type in the program, a sixth of its size.
package template

import (
	"errors"
	"fmt"
	"html"
	"io"
	"reflect"
	"strings"
)

// HTML is text that is not escaped: markup from a safe source.
type HTML string

// Text fills a template; values stand in it as they are. Errors: of the template, of names
// that v does not have, of w.
func Text(w io.Writer, template string, v any) error { return fill(w, template, v, fmt.Sprint) }

// Page fills a template of HTML or XML; values are escaped, for text and for attributes in
// quotes, other than those of type HTML. Errors are those of Text.
func Page(w io.Writer, template string, v any) error {
	return fill(w, template, v, func(v ...any) string {
		if safe, ok := v[0].(HTML); ok {
			return string(safe)
		}
		return Escape(fmt.Sprint(v...))
	})
}

// Escape returns text as it stands in HTML and XML.
func Escape(text string) string {
	return strings.ReplaceAll(html.EscapeString(text), "\x00", "\uFFFD")
}

func fill(w io.Writer, template string, v any, show func(...any) string) error {
	p := &parser{left: template}
	body, end, err := p.body()
	if err == nil && end != "" {
		err = fmt.Errorf("{{%s}} that belongs to nothing", end)
	}
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	f := &filler{w: w, show: show, named: map[string]reflect.Value{}}
	return f.all(body, reflect.ValueOf(v))
}

// node is a piece of a template.
type node struct {
	text  string   // to be written, where word is ""
	word  string   // "if", "with", "range", "show", ":="
	name  string   // of what := names
	terms []string // what is looked at
	body  []*node
	other []*node // of else
}

type parser struct{ left string }

// body reads nodes until an {{else}} or {{end}}, which it returns, or the end.
func (p *parser) body() (nodes []*node, end string, err error) {
	for p.left != "" {
		text, rest, found := strings.Cut(p.left, "{{")
		if text != "" {
			nodes = append(nodes, &node{text: text})
		}
		if p.left = rest; !found {
			break
		}
		action, rest, found := strings.Cut(rest, "}}")
		if p.left = rest; !found {
			return nil, "", errors.New("{{ without }}")
		}
		words := strings.Fields(action)
		if len(words) == 0 {
			return nil, "", errors.New("{{}}")
		}
		n := &node{word: words[0], terms: words[1:]}
		switch {
		case n.word == "else" || n.word == "end":
			return nodes, n.word, nil
		case n.word == "if" || n.word == "with" || n.word == "range":
			if len(n.terms) > 1 && n.terms[0] == "or" {
				n.terms = n.terms[1:]
			} else if len(n.terms) != 1 {
				return nil, "", fmt.Errorf("{{%s}}", action)
			}
			if err := p.block(n); err != nil {
				return nil, "", err
			}
		case len(words) == 3 && words[1] == ":=":
			n.word, n.name, n.terms = ":=", words[0], words[2:]
		case len(words) == 1:
			n.word, n.terms = "show", words
		default:
			return nil, "", fmt.Errorf("{{%s}}", action)
		}
		nodes = append(nodes, n)
	}
	return nodes, "", nil
}

// block reads what belongs to an {{if}} and the like.
func (p *parser) block(n *node) (err error) {
	var end string
	if n.body, end, err = p.body(); err == nil && end == "else" {
		n.other, end, err = p.body()
	}
	if err == nil && end != "end" {
		err = fmt.Errorf("{{%s}} without {{end}}", n.word)
	}
	return err
}

type filler struct {
	w     io.Writer
	show  func(...any) string
	named map[string]reflect.Value
}

func (f *filler) all(nodes []*node, dot reflect.Value) error {
	for _, n := range nodes {
		if err := f.one(n, dot); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) one(n *node, dot reflect.Value) error {
	if n.word == "" {
		_, err := io.WriteString(f.w, n.text)
		return err
	}
	var v reflect.Value
	for _, term := range n.terms { // the first that is not empty
		var err error
		if v, err = f.value(term, dot); err != nil {
			return err
		}
		if !empty(v) {
			break
		}
	}
	switch n.word {
	case ":=":
		f.named[n.name] = v
		return nil
	case "show":
		if !v.IsValid() {
			return nil
		}
		_, err := io.WriteString(f.w, f.show(v.Interface()))
		return err
	}
	if empty(v) {
		return f.all(n.other, dot)
	}
	switch n.word {
	case "with":
		dot = v
	case "range":
		for i := range v.Len() {
			if err := f.all(n.body, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	return f.all(n.body, dot)
}

// value is that of ".", ".Name" or "$x"; what a map does not have is invalid.
func (f *filler) value(term string, dot reflect.Value) (reflect.Value, error) {
	if v, ok := f.named[term]; ok {
		return v, nil
	}
	name, ok := strings.CutPrefix(term, ".")
	if !ok {
		return dot, fmt.Errorf("template: {{%s}}", term)
	}
	v := under(dot)
	switch {
	case name == "":
		return dot, nil
	case v.Kind() == reflect.Map:
		return under(v.MapIndex(reflect.ValueOf(name))), nil
	case v.Kind() == reflect.Struct:
		if field := v.FieldByName(name); field.IsValid() {
			return field, nil
		}
	}
	return dot, fmt.Errorf("template: {{%s}} of a value without", term)
}

// under is what a pointer or an interface is to.
func under(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// empty reports whether a value counts as none: false, 0, nil, without entries.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return !v.IsValid() || v.IsZero()
}
