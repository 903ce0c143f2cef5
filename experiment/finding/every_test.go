package finding

import (
	"fmt"
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
)

// Every kernel that a space of a table or of a series has, and every product and sum of two leaves along the
// same column and along others, is put into words, whatever values it has: a run must not fail for its words.
func TestEveryKernelHasWords(t *testing.T) {
	thorough.Unraced(t)
	columns := []datasets.ColumnSummary{
		{Name: "date", Unit: "d", Role: "input", First: "2022-01-01T00:00:00Z", Max: 600, Spacing: 1, Mean: 300, SD: 170},
		{Name: "warm", Role: "input", Min: -5, Max: 30, Mean: 12, SD: 8},
		{Name: "shop", Role: "input", Max: 2, Levels: []datasets.Level{{Name: "a", Rows: 300}, {Name: "b", Rows: 200}, {Name: "c", Rows: 100}}},
		{Name: "sales", Role: "target", Mean: 100, SD: 10},
	}
	inputs := []kernelspace.TableColumn{{Name: "date", Number: 1, Time: true, Quantity: true, Tells: true},
		{Name: "warm", Number: 2, Quantity: true, Tells: true}, {Name: "shop", Number: 3, Levels: true, Tells: true}}
	ids := append(kernelspace.Table(inputs, nil), kernelspace.Table(inputs, [][2]int{{0, 1}, {1, 2}, {0, 2}})...)
	var leaves []string
	for _, base := range []string{"SE", "RQ", "LIN", "PER", "MATERN12", "MATERN32", "MATERN52", "RW", "IRW", "POLY2", "COS", "CONST", "WN"} {
		for _, column := range []string{"date", "warm"} {
			leaves = append(leaves, base+"["+column+"]")
		}
	}
	leaves = append(leaves, "CAT[shop]", "SE[date,warm;ard]", "LIN[date,warm;ard]",
		"CP(CONST,CONST)[date]", "CP(CONST,CP(CONST,CONST)[date])[date]")
	n := thorough.OneIn(t, 8, "sums and products of three")
	for i, a := range leaves {
		ids = append(ids, a)
		for j, b := range leaves[:i+1] {
			ids = append(ids, a+"*"+b)
			if (i+j)%n == 0 {
				ids = append(ids, a+"+"+b, a+"*"+b+"*LIN[warm]", a+"*"+b+"*CAT[shop]")
			}
		}
	}
	told := 0
	for _, id := range ids {
		e, err := kernelspace.Parse(id)
		if err != nil {
			continue // no kernel
		}
		p, err := kernelspace.Compile(e.Canonical(), kernelspace.Options{Columns: []string{"date", "warm", "shop"}, Dim: 3})
		if err != nil {
			continue
		}
		for _, v := range []files.Number{0.01, 20} {
			values := make([]files.Number, len(p.Params)+1)
			for i := range values {
				values[i] = v
			}
			s := (&scene{columns, e.Canonical().ID(), values, 600, 300, nil, nil}).standing(t)
			f := Of(s, "runs/a")
			if text := f.Text() + fmt.Sprint(f); text == "" || strings.Contains(text, "%!") {
				t.Errorf("%s at %v: %q", id, v, text)
			}
			told++
		}
	}
	if told < 1000 {
		t.Errorf("%d kernels were told", told)
	}
}
