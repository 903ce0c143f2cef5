package template

import (
	htmltemplate "html/template"
	"os"
	"strings"
	"testing"
	texttemplate "text/template"
)

type row struct {
	Name  string
	Share float64
	Note  HTML
	Of    *row
}

// Go's own packages fill the same templates with the same text; what is safe has another
// type there.
func TestLikeGo(t *testing.T) {
	const rows = `{{$all := .All}}{{with .Title}}<h1 title="{{.}}">{{.}}</h1>{{end}}{{if or .None .Rows}}{{range .Rows}}<p>{{.Name}}` +
		`{{if $all}} {{.Share}}{{else}} -{{end}}{{with .Of}} of {{.Name}}{{end}}</p>{{end}}{{end}}{{if .None}}none{{else}}some{{end}}` +
		`{{range .Texts}}{{.}};{{end}}{{range .None}}x{{end}} {{.Count}}{{with .Zero}}{{.}}{{end}}`
	type page struct {
		Title, Zero string
		All         bool
		Rows        []row
		None        []string
		Texts       []string
		Count       int
	}
	hostile := "<b>\"'&+`\x00{{.Title}}"
	for _, v := range []page{
		{Title: hostile, All: true, Rows: []row{{Name: hostile, Share: 0.25, Of: &row{Name: "y"}}, {Share: 1e-9}}, Texts: []string{"", hostile},
			Count: -3},
		{}, {Rows: []row{{}}, Texts: []string{"a"}},
	} {
		var want, got strings.Builder
		if err := htmltemplate.Must(htmltemplate.New("").Parse(rows)).Execute(&want, v); err != nil {
			t.Fatal(err)
		}
		if err := Page(&got, rows, v); err != nil || got.String() != strings.ReplaceAll(want.String(), "&#43;", "+") { // the same to a reader
			t.Errorf("%+v: %v\n%s\nwant\n%s", v, err, got.String(), want.String())
		}
		want.Reset()
		got.Reset()
		fields := map[string]any{"Title": v.Title, "All": v.All, "Rows": v.Rows, "None": v.None, "Texts": v.Texts, "Count": v.Count}
		if err := texttemplate.Must(texttemplate.New("").Parse(rows)).Execute(&want, fields); err != nil {
			t.Fatal(err)
		}
		if err := Text(&got, rows, fields); err != nil || got.String() != want.String() {
			t.Errorf("%+v: %v\n%s\nwant\n%s", v, err, got.String(), want.String())
		}
	}
}

// Markup stays as it is; what is wrong with a template is told.
func TestMarkupAndMistakes(t *testing.T) {
	var b strings.Builder
	if err := Page(&b, "{{.Note}}|{{.Name}}", row{Name: "<i>", Note: "<b>"}); err != nil || b.String() != "<b>|&lt;i&gt;" {
		t.Errorf("%q, %v", b.String(), err)
	}
	for _, wrong := range []string{"{{.Nothing}}", "{{", "{{}}", "{{if .Name}}", "{{end}}", "{{else}}", "{{if}}x{{end}}", "{{x}}",
		"{{.Name .Name}}",
		"{{range .Name}}{{else}}{{else}}{{end}}"} {
		if err := Text(&strings.Builder{}, wrong, row{}); err == nil {
			t.Errorf("%s is no mistake", wrong)
		}
	}
}

// The pages of this program use nothing that is not here.
func TestPages(t *testing.T) {
	for _, name := range []string{"../report/page.html", "../script/script.py.tmpl"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p := &parser{left: string(b)}
		if _, end, err := p.body(); err != nil || end != "" {
			t.Errorf("%s: %v, %q", name, err, end)
		}
	}
}
