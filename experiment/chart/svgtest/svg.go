package svgtest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
)

// Path is a path of an SVG file: its points in the order of drawing, a new
// list for each move. The vertical axis points upwards.
type Path struct {
	Stroke, Fill, Dashes string
	Parts                [][][2]float64
}

// Text is a text and where it stands.
type Text struct {
	X, Y float64 // upwards
	Text string
}

// Read parses a figure's SVG as XML.
func Read(t *testing.T, data []byte) (paths []Path, texts []Text) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return paths, texts
		}
		if err != nil {
			t.Fatalf("SVG is no XML: %v", err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "path" && e.Name.Local != "text" {
			continue
		}
		attributes := map[string]string{}
		for _, a := range e.Attr {
			attributes[a.Name.Local] = a.Value
		}
		style := map[string]string{}
		for part := range strings.SplitSeq(attributes["style"], ";") {
			name, value, _ := strings.Cut(part, ":")
			style[name] = value
		}
		if e.Name.Local == "path" {
			paths = append(paths, Path{style["stroke"], style["fill"], style["stroke-dasharray"], readPath(t, attributes["d"])})
			continue
		}
		var text string
		must.OK(t, d.DecodeElement(&text, &e))
		texts = append(texts, Text{ParseNumber(t, attributes["x"]), -ParseNumber(t, attributes["y"]), text})
	}
}

// ParseNumber reads a number of a file.
func ParseNumber(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	must.OK(t, err)
	return v
}

func readPath(t *testing.T, d string) (parts [][][2]float64) {
	t.Helper()
	for d != "" {
		end := strings.IndexAny(d[1:], "MLAZ") + 1
		if end == 0 {
			end = len(d)
		}
		if d[0] == 'M' || d[0] == 'L' {
			x, y, ok := strings.Cut(d[1:end], ",")
			if !ok {
				t.Fatalf("path %q", d)
			}
			if d[0] == 'M' {
				parts = append(parts, nil)
			}
			k := len(parts) - 1
			parts[k] = append(parts[k], [2]float64{ParseNumber(t, x), ParseNumber(t, y)})
		}
		d = d[end:]
	}
	return parts
}

// Drawn returns the paths and texts of a figure.
func Drawn(t *testing.T, f interface{ WriteSVG(io.Writer) error }) (paths []Path, texts []Text) {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, f.WriteSVG(&b))
	return Read(t, b.Bytes())
}

// Stroked returns the parts of all paths of a colour, without marks.
func Stroked(paths []Path, c interface{ Hex() string }) (parts [][][2]float64) {
	for _, p := range paths {
		if strings.EqualFold(p.Stroke, c.Hex()) {
			parts = append(parts, p.Parts...)
		}
	}
	return parts
}

// Near compares places on the paper; files have hundredths of a point.
func Near(a, b float64) bool { return math.Abs(a-b) < 0.02 }

// FrameOf returns the frame's left, right, bottom and top.
func FrameOf(t *testing.T, paths []Path) (left, right, bottom, top float64) {
	t.Helper()
	for _, p := range paths {
		if p.Stroke == frameInk.Hex() && len(p.Parts) == 1 && len(p.Parts[0]) >= 4 {
			c := p.Parts[0]
			return c[0][0], c[2][0], c[0][1], c[2][1]
		}
	}
	t.Fatal("there is no frame")
	return 0, 0, 0, 0
}

// ink is a colour as files have it, "#rrggbb".
type ink string

// Hex is the colour itself.
func (i ink) Hex() string { return string(i) }

// frameInk is that of a chart's frame.
const frameInk ink = "#555555"

// Grey is a shade of grey.
func Grey(g color.Gray) ink { return ink(fmt.Sprintf("#%02x%02x%02x", g.Y, g.Y, g.Y)) }
