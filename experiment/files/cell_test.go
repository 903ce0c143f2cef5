package files

import (
	"math"
	"strings"
	"testing"
)

// savedCell returns the text of which SafeCell made a cell, as its comment says.
func savedCell(cell string) string {
	if strings.HasPrefix(cell, "'") && startsFormula(cell) {
		return cell[1:]
	}
	return cell
}

func TestSafeCell(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"time":                     "time",
		"=1+1":                     "'=1+1",
		"=cmd|' /C calc'!A0":       "'=cmd|' /C calc'!A0",
		"@SUM(A1)":                 "'@SUM(A1)",
		"+a":                       "'+a",
		"-a":                       "'-a",
		"-1+1":                     "'-1+1",
		"\t=1":                     "'\t=1",
		"\r=1":                     "'\r=1",
		"\n=1":                     "'\n=1",
		"＝1":                       "'＝1",
		"'=1":                      "''=1",
		"'quoted'":                 "'quoted'",
		"-1.5e-300":                "-1.5e-300",
		"-Inf":                     "-Inf",
		"+Inf":                     "+Inf",
		"(PER+RQ)*LIN[\"=x\"]":     "(PER+RQ)*LIN[\"=x\"]",
		"a=b":                      "a=b",
		"'":                        "'",
		FormatFloat(-math.Pi):      FormatFloat(-math.Pi),
		FormatFloat(math.Inf(-1)):  "-Inf",
		"2020-01-01T00:00:00Z":     "2020-01-01T00:00:00Z",
		"-2020-01-01T00:00:00.00Z": "'-2020-01-01T00:00:00.00Z",
	} {
		got := SafeCell(text)
		if got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if savedCell(got) != text {
			t.Errorf("%q comes back as %q", text, savedCell(got))
		}
	}
}

// FuzzSafeCell: no text starts a formula, and every text comes back.
func FuzzSafeCell(f *testing.F) {
	for _, s := range []string{"=1", "'=1", "'", "-1", "''-x", "\t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cell := SafeCell(text)
		if savedCell(cell) != text {
			t.Fatalf("%q becomes %q becomes %q", text, cell, savedCell(cell))
		}
		if cell != "" && strings.Contains("=+-@\t\r", cell[:1]) {
			var n Number
			if err := n.UnmarshalJSON([]byte(`"` + cell + `"`)); err != nil {
				t.Fatalf("%q starts a formula", cell)
			}
		}
	})
}
