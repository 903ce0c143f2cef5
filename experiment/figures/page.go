package figures

import (
	"bytes"
	"fmt"
	"strings"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/template"
)

// PageFigure is a chart in a page.
type PageFigure struct {
	SVG     template.HTML
	Caption string
}

// ForPage draws a figure for a page. The SVG is safe there: the texts in it are
// escaped by the writer, and all else in it are numbers.
func ForPage(f *chart.Figure, caption string) (*PageFigure, error) {
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		return nil, err
	}
	text := b.String()
	at := strings.Index(text, "<svg ")
	if at < 0 {
		return nil, fmt.Errorf("figure %q: what was drawn is no SVG", f.Name)
	}
	label := `<svg role="img" aria-label="` + template.Escape(chart.Printable(caption)) + `" `
	return &PageFigure{SVG: template.HTML(label + text[at+len("<svg "):]), Caption: caption}, nil
}
