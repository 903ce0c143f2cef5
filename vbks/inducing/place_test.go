package inducing

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func randomRows(n, dim int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 11))
	x := make([]float64, n*dim)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// hasRow reports whether z's row i is a row of x.
func hasRow(x []float64, dim int, row []float64) bool {
	for i := 0; i < len(x); i += dim {
		if slices.Equal(x[i:i+dim], row) {
			return true
		}
	}
	return false
}

func TestPlaceEveryMethod(t *testing.T) {
	for _, method := range Methods() {
		for _, dim := range []int{1, 3} {
			if (method == "grid" || method == "quantiles") && dim > 1 {
				continue
			}
			for _, m := range []int{1, 2, 7, 64, 400} {
				x := randomRows(400, dim, 1)
				before := slices.Clone(x)
				z, notices, err := Place(x, dim, m, method, 5)
				if err != nil || len(notices) > 0 || len(z) != m*dim {
					t.Fatalf("%s, %d columns, m = %d: %d numbers, %v, %v", method, dim, m, len(z), notices, err)
				}
				if !slices.Equal(x, before) {
					t.Fatalf("%s changes its input", method)
				}
				for i := dim; i < len(z); i += dim {
					if slices.Compare(z[i-dim:i], z[i:i+dim]) >= 0 {
						t.Fatalf("%s, %d columns, m = %d: rows %v and %v are not in order or equal", method, dim, m, z[i-dim:i], z[i:i+dim])
					}
				}
				again, _, _ := Place(x, dim, m, method, 5)
				if !slices.Equal(z, again) {
					t.Errorf("%s, %d columns, m = %d: not deterministic", method, dim, m)
				}
				if method == "kmeans" || method == "grid" || method == "auto" && dim > 1 {
					continue
				}
				for i := 0; i < len(z); i += dim {
					if !hasRow(x, dim, z[i:i+dim]) {
						t.Fatalf("%s: %v is no training row", method, z[i:i+dim])
					}
				}
			}
		}
	}
}

func TestPlaceSeeds(t *testing.T) {
	x := randomRows(8000, 1, 2)
	for _, method := range []string{"auto", "kmeans", "jittered", "random"} {
		a, _, _ := Place(x, 1, 20, method, 1)
		b, _, _ := Place(x, 1, 20, method, 2)
		if slices.Equal(a, b) {
			t.Errorf("%s does not depend on the seed", method)
		}
	}
}

func TestPlaceFewDistinctRows(t *testing.T) {
	x := make([]float64, 0, 3*300)
	for i := range 300 {
		x = append(x, float64(i%4), float64(i%2), 1)
	}
	for _, method := range Methods() {
		for _, dim := range []int{1, 3} {
			if (method == "grid" || method == "quantiles") && dim > 1 {
				continue
			}
			const want = 4 // rows repeat with period 4; the values are 0, 1, 2, 3
			z, notices, err := Place(x, dim, 50, method, 1)
			if err != nil || len(z) != want*dim || len(notices) != 1 || !strings.Contains(notices[0], "4 distinct") {
				t.Errorf("%s, %d columns: %v, %v, %v", method, dim, z, notices, err)
			}
		}
	}
	z, notices, err := Place([]float64{3, 1, 2}, 1, 10, "auto", 1)
	if err != nil || !slices.Equal(z, []float64{1, 2, 3}) || len(notices) != 1 || !strings.Contains(notices[0], "only 3 training rows") {
		t.Errorf("more than rows: %v, %v, %v", z, notices, err)
	}
	// A few hundred distinct rows among many: a sample must not miss them.
	many := make([]float64, 2*60000)
	for i := 0; i < len(many); i += 200 {
		many[i] = float64(i / 200 % 300)
	}
	z, notices, err = Place(many, 2, 290, "kmeans", 1)
	if err != nil || len(z) != 290*2 || len(notices) != 0 {
		t.Errorf("rare rows: %d numbers, %v, %v", len(z), notices, err)
	}
}

func TestPlaceGridAndQuantiles(t *testing.T) {
	x := []float64{4, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 1, 2}
	z, _, err := Place(x, 1, 5, "grid", 1)
	if err != nil || !slices.Equal(z, []float64{0, 1, 2, 3, 4}) {
		t.Errorf("grid: %v, %v", z, err)
	}
	z, _, err = Place(x, 1, 5, "auto", 1)
	if err != nil || !slices.Equal(z, []float64{0, 0.2, 0.4, 1, 4}) {
		t.Errorf("quantiles: %v, %v", z, err)
	}
}

func TestPlaceSpreadConsecutive(t *testing.T) {
	x := make([]float64, 1000)
	for i := range x {
		x[i] = float64((i * 7) % 1000)
	}
	z, _, err := Place(x, 1, 40, "spread+consecutive", 1)
	if err != nil {
		t.Fatal(err)
	}
	in := func(v float64) bool { return slices.Contains(z, v) }
	for v := 400.; v < 419; v++ {
		if !in(v) {
			t.Errorf("%g is missing from the consecutive rows", v)
		}
	}
	if !in(0) || !in(999) {
		t.Errorf("the ends are missing: %v", z)
	}
}

// One row of every cell of equally many rows.
func TestPlaceJittered(t *testing.T) {
	x := make([]float64, 10000)
	for i := range x {
		x[i] = float64(i)
	}
	for _, method := range []string{"jittered", "auto"} {
		z, _, err := Place(x, 1, 50, method, 3)
		if err != nil {
			t.Fatal(err)
		}
		even := true
		for i, v := range z {
			if int(v)/200 != i {
				t.Errorf("%s: %g lies outside cell %d", method, v, i)
			}
			even = even && v == z[0]+200*float64(i)
		}
		if even {
			t.Errorf("%s: no jitter", method)
		}
	}
}

// K-means must do much better than random rows, and find separate clusters.
func TestPlaceKMeans(t *testing.T) {
	cost := func(x, z []float64, dim int) (sum float64) {
		for i := 0; i < len(x); i += dim {
			best := math.Inf(1)
			for c := 0; c < len(z); c += dim {
				var r2 float64
				for d := range dim {
					r2 += (x[i+d] - z[c+d]) * (x[i+d] - z[c+d])
				}
				best = min(best, r2)
			}
			sum += best
		}
		return sum
	}
	x := randomRows(3000, 2, 4)
	z, _, _ := Place(x, 2, 40, "kmeans", 1)
	random, _, _ := Place(x, 2, 40, "random", 1)
	if a, b := cost(x, z, 2), cost(x, random, 2); a > 0.7*b {
		t.Errorf("k-means costs %g, random rows %g", a, b)
	}
	for i := 0; i < len(x); i += 2 { // nine narrow clusters
		x[i] = 100*float64(i/2%3) + 0.01*x[i]
		x[i+1] = 100*float64(i/6%3) + 0.01*x[i+1]
	}
	z, _, _ = Place(x, 2, 9, "kmeans", 1)
	if a := cost(x, z, 2); a > 3000*2*1e-4*1.2 {
		t.Errorf("the clusters were not found: cost %g, centres %v", a, z)
	}
}

// The search that stops early must agree with trying every centre.
func TestAssign(t *testing.T) {
	pts, centres := randomRows(500, 3, 7), randomRows(30, 3, 8)
	owner, dist := make([]int, 500), make([]float64, 500)
	assign(pts, centres, 3, owner, dist)
	for i := range owner {
		for c := range 30 {
			var r2 float64
			for d := range 3 {
				u := pts[3*i+d] - centres[3*c+d]
				r2 += u * u
			}
			if r2 < dist[i]-1e-12 || c == owner[i] && math.Abs(r2-dist[i]) > 1e-12 {
				t.Fatalf("point %d: centre %d at %g, chosen %d at %g", i, c, r2, owner[i], dist[i])
			}
		}
	}
}

func TestPlaceErrors(t *testing.T) {
	x := randomRows(10, 2, 1)
	for _, c := range []struct {
		x      []float64
		dim, m int
		method string
		want   string
	}{
		{x, 2, 3, "kmean", `did you mean "kmeans"`},
		{x, 2, 3, "jitered", `did you mean "jittered"`},
		{x, 2, 3, "grid", "single input column"},
		{x, 3, 3, "kmeans", "not rows of 3"},
		{nil, 1, 3, "auto", "not rows"},
		{x, 2, 0, "auto", "at least 1"},
		{[]float64{1, math.NaN()}, 1, 1, "auto", "finite"},
	} {
		if _, _, err := Place(c.x, c.dim, c.m, c.method, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, m = %d: %v, want %q", c.method, c.m, err, c.want)
		}
	}
}

func BenchmarkPlace(b *testing.B) {
	for _, c := range []struct {
		name      string
		n, dim, m int
		method    string
	}{
		{"200000x1,jittered", 200000, 1, 800, "auto"},
		{"200000x1,kmeans", 200000, 1, 800, "kmeans"},
		{"1e6x3,kmeans", 1000000, 3, 200, "kmeans"},
		{"1e6x3,jittered", 1000000, 3, 200, "jittered"},
		{"1e6x3,spread", 1000000, 3, 200, "spread+consecutive"},
		{"16599x18,kmeans", 16599, 18, 1000, "kmeans"},
	} {
		x := randomRows(c.n, c.dim, 1)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Place(x, c.dim, c.m, c.method, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
