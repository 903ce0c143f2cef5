package windows_test

import (
	"fmt"
	"testing"

	"example.com/kestrel/vbks/windows"
)

// A value and a gradient of 4,000 rows.
func BenchmarkEvidence(b *testing.B) {
	for _, c := range []struct {
		kernel string
		m      int
		width  windows.Width
	}{
		{"LIN+MATERN32+RW", 64, windows.Width{Block: 64}},
		{"PER*SE+LIN+MATERN12+CONST", 64, windows.Width{Block: 64}},
		{"PER*SE+LIN+MATERN12+CONST", 64, windows.Width{Block: 128}},
		{"PER*SE+LIN+MATERN12+CONST", 128, windows.Width{Block: 128}},
	} {
		e, p, _, _, _ := evidence(b, c.kernel, 4000, c.m, c.width)
		free := start(p)
		grad := make([]float64, len(free))
		for _, with := range [][]float64{nil, grad} {
			b.Run(fmt.Sprintf("%s/%d/%v/%v", c.kernel, c.m, c.width, with != nil), func(b *testing.B) {
				for b.Loop() {
					value(b, e, free, with)
				}
			})
		}
	}
}
