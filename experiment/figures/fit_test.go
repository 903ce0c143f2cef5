package figures

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/chart/svgtest"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/internal/must"
)

// The two bands of a fit can be told apart in the legend, and no mark of the mean
// can be taken for a row.
func TestFitFigureIsClear(t *testing.T) {
	n := 200
	c := &inspect.Curve{}
	for i := range n {
		x := float64(i)
		c.X, c.Mean = append(c.X, x), append(c.Mean, math.Sin(x/20))
		c.Lower, c.Upper = append(c.Lower, -2), append(c.Upper, 2)
		c.LowerF, c.UpperF = append(c.LowerF, -1.5), append(c.UpperF, 1.5)
	}
	f := &chart.Figure{Name: "fit"}
	AddFit(f, c, chart.Swatches()[0])
	var b bytes.Buffer
	must.OK(t, f.WriteSVG(&b))
	tints := map[string]int{}
	for _, m := range regexp.MustCompile(`fill-opacity:([0-9.]+)`).FindAllStringSubmatch(b.String(), -1) {
		tints[m[1]]++
	}
	if len(tints) != 2 {
		t.Errorf("the bands have tints %v", tints)
	}
	paths, _ := svgtest.Drawn(t, f)
	for _, p := range paths {
		if strings.EqualFold(p.Fill, chart.Swatches()[0].Light.Hex()) {
			t.Fatal("the mean has marks")
		}
	}
}
