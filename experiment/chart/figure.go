package chart

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"example.com/kestrel/experiment/files"
)

// Figure is a chart to be saved as files, for paper on white: the course of a
// run or of several, or a fit with its band. It shares nothing with the run
// that it was made from. Colours are Swatch.Light.
type Figure struct {
	Name                  string // of the files, such as "posterior"
	Title, XLabel, YLabel string // labels with units
	LogX, LogY            bool   // values that are not above 0 are left out, with a note

	// Limits of the axes. Equal: from the data, those that are Rest aside.
	// YMin above YMax: downwards.
	XMin, XMax, YMin, YMax float64
	XAt, YAt               []float64              // what is labelled on them; nil: round numbers
	XTicks, YTicks         func(v float64) string // labels of the axes; nil: numbers
	XText                  func(x float64) string // places of the horizontal axis in tables; nil: numbers

	Lines  []Line // the first is drawn over the others
	Bands  []Band
	Points []Points
	Cells  *Cells     // nil: none
	Marks  []AxisMark // vertical lines with texts

	Width, Height float64 // inches; 0: 7 and 4.5
}

// Line is a line through values, or through the extents of values that
// have been merged. A value that is not finite is a gap.
type Line struct {
	Name      string    // "": not named
	X, Lo, Hi []float64 // Hi nil: Lo
	Swatch    Swatch
	Rest      bool    // grey, thin and not named
	Width     float64 // in points; 0: as usual
}

// Band is the area between two lines. A value that is not finite is a
// gap.
type Band struct {
	Name      string // "": not named
	X, Lo, Hi []float64
	Swatch    Swatch
	Inner     bool // lies within the band before it, and is drawn stronger
}

// Points are single values. Those that are not finite are left out.
type Points struct {
	Name   string // "": not named
	X, Y   []float64
	Swatch Swatch
	Hollow bool
}

// Size of a figure, in inches, and its resolution as an image.
const (
	figureWidth, figureHeight = 7, 4.5
	figureDPI                 = 192 // twice a screen's
)

// Files draws the figure as Name.svg, Name.png and, unless text is empty, Name.txt
// with the text.
func (f *Figure) Files(text string) ([]files.File, error) {
	if f.Name == "" || f.Name != filepath.Base(f.Name) || strings.HasPrefix(f.Name, ".") {
		return nil, fmt.Errorf("figure %q cannot be saved: its name is no name of a file", f.Name)
	}
	var svg, png bytes.Buffer
	if err := f.WriteSVG(&svg); err != nil {
		return nil, err
	}
	if err := f.writePNG(&png); err != nil {
		return nil, err
	}
	all := []files.File{{Name: f.Name + ".svg", Text: svg.Bytes()}, {Name: f.Name + ".png", Text: png.Bytes()}}
	if text != "" {
		all = append(all, files.File{Name: f.Name + ".txt", Text: []byte(text)})
	}
	return all, nil
}

// WriteSVG writes the figure as SVG. Texts stay texts, in Liberation Sans or
// the like.
func (f *Figure) WriteSVG(w io.Writer) error {
	width, height, err := f.size()
	if err != nil {
		return err
	}
	c := vgsvg.New(width, height)
	if err := f.draw(draw.New(c)); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return fmt.Errorf("figure %q: %w", f.Name, err)
	}
	// Fonts of the same widths for those who do not have Liberation. A quotation
	// mark stands so in attributes only.
	text := bytes.ReplaceAll(b.Bytes(), []byte(`style="font-family:Liberation Sans;`),
		[]byte(`style="font-family:Liberation Sans,Arial,Helvetica,sans-serif;`))
	_, err = w.Write(text)
	return err
}

// writePNG writes the figure as PNG, on white at 192 dots per inch.
func (f *Figure) writePNG(w io.Writer) error {
	width, height, err := f.size()
	if err != nil {
		return err
	}
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(figureDPI))
	if err := f.draw(draw.New(c)); err != nil {
		return err
	}
	_, err = vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

func (f *Figure) size() (width, height vg.Length, err error) {
	w, h := f.Width, f.Height
	if w == 0 {
		w = figureWidth
	}
	if h == 0 {
		h = figureHeight
	}
	if !(w >= 2 && w <= 40 && h >= 1.5 && h <= 40) {
		return 0, 0, fmt.Errorf("figure %q: %g x %g in is no size for it; 2 x 1.5 to 40 x 40 are", f.Name, w, h)
	}
	return vg.Length(w) * vg.Inch, vg.Length(h) * vg.Inch, nil
}

// check finds lists of different lengths.
func (f *Figure) check() error {
	bad := func(what, name string, n ...int) error {
		return fmt.Errorf("figure %q: %s %q has lists of different lengths: %v", f.Name, what, name, n)
	}
	for i := range f.Lines {
		if l := &f.Lines[i]; len(l.X) != len(l.Lo) || l.Hi != nil && len(l.X) != len(l.Hi) {
			return bad("line", l.Name, len(l.X), len(l.Lo), len(l.Hi))
		}
	}
	for i := range f.Bands {
		if b := &f.Bands[i]; len(b.X) != len(b.Lo) || len(b.X) != len(b.Hi) {
			return bad("band", b.Name, len(b.X), len(b.Lo), len(b.Hi))
		}
	}
	for i := range f.Points {
		if p := &f.Points[i]; len(p.X) != len(p.Y) {
			return bad("set of points", p.Name, len(p.X), len(p.Y))
		}
	}
	return nil
}

// Negate changes the sign of what is drawn.
func (l *Line) Negate() {
	for i := range l.Lo {
		l.Lo[i] = 0 - l.Lo[i] // not −0
	}
	for i := range l.Hi {
		l.Hi[i] = 0 - l.Hi[i]
		l.Lo[i], l.Hi[i] = l.Hi[i], l.Lo[i]
	}
}
