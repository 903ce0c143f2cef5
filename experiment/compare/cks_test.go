package compare

import (
	"math"
	"reflect"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/searches"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
)

func exprs(t *testing.T, texts ...string) []kernelspace.Expr {
	t.Helper()
	all, err := config.ParseAll(texts)
	must.OK(t, err)
	return all
}

// A search by hand: SE is the best base kernel, LIN*SE the best around it and
// better; LIN*LIN, which is new around that, is not.
func TestCompositionalSearch(t *testing.T) {
	score := map[string]float64{"SE": 5, "LIN": 1, "LIN*SE": 9, "SE+SE": 6, "LIN+SE": math.NaN(), "SE*SE": 8}
	s := &cksSearch{searches.Greedy{Bases: exprs(t, "SE", "LIN"), Leaves: 2}}
	var done []searchStep
	var order []string
	for !s.over(done) {
		id, err := s.next(t.Context(), done)
		must.OK(t, err)
		order = append(order, id)
		v, ok := score[id]
		if !ok {
			v = 0
		}
		done = append(done, searchStep{ID: id, Score: v})
	}
	// Around LIN*SE only SE*SE, which is known, and LIN*LIN are within depth 2.
	if want := []string{"SE", "LIN", "LIN+SE", "SE+SE", "LIN*SE", "SE*SE", "LIN*LIN"}; !reflect.DeepEqual(order, want) {
		t.Errorf("trained in the order %v, by hand %v", order, want)
	}
	r := &finishedRun{ELBO: -100, Params: 4, Rows: 1000}
	if bic := -2 * s.score(r); math.Abs(bic-(200+4*math.Log(1000))) > 1e-9 {
		t.Errorf("BIC is %v", bic)
	}
}
