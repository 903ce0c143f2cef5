package vbks

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
)

// Of a matrix a file has the lower triangle, row by row, and gives it back.
func TestTriangles(t *testing.T) {
	lower := []float64{1, 0, 0, 2, 3, 0, 4, 5, 6}
	symmetric := []float64{1, 2, 4, 2, 3, 5, 4, 5, 6}
	for _, matrix := range [][]float64{lower, symmetric} {
		a := lowerOf(matrix, 3)
		packed := slices.Concat(slices.Collect(a.Pieces())...)
		if !slices.Equal(packed, []float64{1, 2, 3, 4, 5, 6}) || a.Len() != 6 || !slices.Equal(a.Shape, []int{6}) {
			t.Errorf("%v became %v of shape %v", matrix, packed, a.Shape)
		}
		if got := unpackLower(packed, 3, matrix[1] != 0); !slices.Equal(got, matrix) {
			t.Errorf("%v came back as %v", matrix, got)
		}
	}
	if whole := (Tensor{Shape: []int{2}, Data: []float64{7, 8}}); whole.Len() != 2 || len(slices.Collect(whole.Pieces())) != 1 {
		t.Errorf("%+v", whole)
	}
}

// A checkpoint has no more of q(v) than triangles, and one of an older program, which has whole
// matrices, is read, too: the trainers are the same bit for bit.
func TestWholeMatricesAreRead(t *testing.T) {
	data := trainingSeries(16, 60)
	for optimizer, matrices := range map[string]int{"natural": 1, "adam": 3} {
		s := quickSettings(optimizer)
		tr := trainerOn(t, 1, nil, data, s, "SE", "LIN")
		next(t, tr)
		saved := tr.Checkpoint()
		older, numbers := filed(saved), 0
		for name, a := range saved {
			if !strings.Contains(name, "/chol") || strings.HasPrefix(name, "belief") {
				continue
			}
			numbers += len(older[name].Data)
			older[name] = Tensor{Shape: []int{tr.m, tr.m}, Data: slices.Clone(a.Data)}
		}
		if want := 2 * matrices * tr.m * (tr.m + 1) / 2; numbers != want {
			t.Errorf("%s: %d numbers of matrices, want %d", optimizer, numbers, want)
		}
		older["format"] = Tensor{Shape: []int{1}, Data: []float64{checkpointFormat}}
		dev := onCPU(1)
		defer dev.Close()
		from, err := Resume(context.Background(), dev, data, candidates(t, "SE", "LIN"), []string{"x"}, s, older)
		must.OK(t, err)
		same(t, optimizer+" of an older checkpoint", from, tr)
		next(t, tr)
		next(t, from)
		same(t, optimizer+" going on from it", from, tr)
		torn := maps.Clone(filed(saved))
		torn["kernel/1/chol"] = Tensor{Data: torn["kernel/1/chol"].Data[1:]}
		if _, err := Resume(context.Background(), dev, data, candidates(t, "SE", "LIN"), []string{"x"}, s, torn); err == nil ||
			!strings.Contains(err.Error(), "array kernel/1/chol has 35 numbers where 64 fit") {
			t.Errorf("%s: %v", optimizer, err)
		}
	}
}
