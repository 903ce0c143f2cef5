//go:build cuda

package driver_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/driver/fake"
)

const scaled = `
extern "C" __global__ void scaled(double *y, const double *factor, double otherwise, double add, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x + 32 * (blockIdx.y + 2 * blockIdx.z);
	if (i < n) y[i] = y[i] * (factor ? *factor : otherwise) + add;
}
`

// step is work that is gathered: five launches with a number that differs from step to step, and a set of
// memory whose result the last one moves.
type step struct {
	card *driver.Card
	f    driver.Function
	y, z driver.Ptr
	n    int
}

func newStep(t *testing.T, o fake.Options) *step {
	t.Helper()
	c := card(t, use(t, o), 0)
	m, err := c.Compile("scaled.cu", scaled)
	if err != nil {
		t.Fatal(err)
	}
	s := &step{card: c, n: 100}
	if s.f, err = m.Function("scaled"); err != nil {
		t.Fatal(err)
	}
	s.y, s.z = alloc(t, c, 8*s.n), alloc(t, c, 8*s.n)
	driver.CopyIn(c, s.y, slices.Repeat([]float64{1}, s.n))
	driver.CopyIn(c, s.z, slices.Repeat([]float64{5}, s.n))
	return s
}

func (s *step) launch(y driver.Ptr, factor float64, vary bool, add float64) {
	var at driver.Ptr
	if vary {
		if at = s.card.Vary(factor); at != 0 {
			factor = 0
		}
	}
	s.card.Launch(s.f, [3]int{1, 2, 2}, [3]int{32, 1, 1}, 0, uint64(y), uint64(at), driver.Float(factor), driver.Float(add), driver.Int(s.n))
}

func (s *step) make(factor float64) {
	for i := range 4 {
		s.launch(s.y, factor+float64(i), true, 1)
	}
	s.card.Memset(s.z, 0, 8*s.n)
	s.launch(s.z, 2, false, 3)
}

func (s *step) read(t *testing.T) (y, z []float64) {
	t.Helper()
	y, z = make([]float64, s.n), make([]float64, s.n)
	if err := driver.CopyOut(s.card, y, s.y); err != nil {
		t.Fatal(err)
	}
	if err := driver.CopyOut(s.card, z, s.z); err != nil {
		t.Fatal(err)
	}
	return y, z
}

// TestGraphs: what is gathered computes the same as what is not, whether the driver records it or refuses
// to; from the second time on it is a graph, of one call and one for what varies.
func TestGraphs(t *testing.T) {
	const steps = 6
	want := 1.0
	for k := range steps {
		for i := range 4 {
			want = want*(0.5+float64(k)/8+float64(i)) + 1
		}
	}
	for refuses := range 3 {
		for _, gather := range []bool{false, true} {
			t.Run(fmt.Sprint(refuses, gather), func(t *testing.T) {
				s := newStep(t, fake.Options{Graphs: refuses})
				var calls []int
				for k := range steps {
					before := fake.Count(t, folder, 0)
					if gather {
						s.card.Gather()
					}
					s.make(0.5 + float64(k)/8)
					s.card.Carry()
					after := fake.Count(t, folder, 0)
					calls = append(calls, after.Calls-before.Calls)
					if after.Kernels-before.Kernels != 5 {
						t.Errorf("step %d: %d kernels run", k, after.Kernels-before.Kernels)
					}
				}
				y, z := s.read(t)
				for i := range y {
					if y[i] != want || z[i] != 3 {
						t.Fatalf("entry %d: %v and %v, want %v and 3", i, y[i], z[i], want)
					}
				}
				expect := []int{6, 6, 6, 6, 6, 6} // five launches and a set
				graphs := 0
				switch {
				case gather && refuses == 0:
					// Once one by one; then begin, six calls, end, instantiate, destroy, launch; then launch. The copy of
					// what varies comes before, with what the first one takes.
					expect, graphs = []int{7, 12, 2, 2, 2, 2}, 1
				case gather && refuses == 1: // begins, and again one by one
					expect = []int{7, 8, 6, 6, 6, 6}
				case gather: // begins, captures and has it refused, and again one by one
					expect = []int{7, 17, 6, 6, 6, 6}
				}
				calls[0] = min(calls[0], expect[0]) // making memory and events for copies, if need be
				if !slices.Equal(calls, expect) {
					t.Errorf("calls of the driver %v, want %v", calls, expect)
				}
				if s.card.Graphs() != graphs || s.card.Records() != (refuses == 0 || !gather) {
					t.Errorf("%d graphs, records: %v", s.card.Graphs(), s.card.Records())
				}
			})
		}
	}
}

// TestGraphsAreCut: a copy between the launches stays between them, and makes two graphs of a step.
func TestGraphsAreCut(t *testing.T) {
	s := newStep(t, fake.Options{})
	for k := range 4 {
		s.card.Gather()
		s.make(1)
		driver.CopyIn(s.card, s.y, slices.Repeat([]float64{float64(k)}, s.n))
		s.make(0)
		s.card.Carry()
		y, _ := s.read(t)
		if want := (((float64(k)*0+1)*1+1)*2+1)*3 + 1; y[0] != want || y[s.n-1] != want {
			t.Errorf("step %d: %v, want %v", k, y[0], want)
		}
	}
	if n := s.card.Graphs(); n != 1 { // both halves are the same calls
		t.Errorf("%d graphs", n)
	}
	if got := fake.Count(t, folder, 0); got.Graphs != 7 || got.Captures != 1 {
		t.Errorf("%d launches of graphs, %d captures, want all but the first and one", got.Graphs, got.Captures)
	}
}

// TestManyGraphs: more graphs than are kept, and none too many left when the card is closed.
func TestManyGraphs(t *testing.T) {
	s := newStep(t, fake.Options{})
	want := 1.0
	for k := range 300 {
		for range 2 {
			s.card.Gather()
			for range 4 {
				s.launch(s.y, 0.5, true, float64(k))
				want = want*0.5 + float64(k)
			}
			s.card.Carry()
		}
	}
	if y, _ := s.read(t); math.Abs(y[7]-want) != 0 {
		t.Errorf("%v, want %v", y[7], want)
	}
	if n := s.card.Graphs(); n < 1 || n > 128 {
		t.Errorf("%d graphs are kept", n)
	}
	if got := fake.Count(t, folder, 0); got.Captures != 300 || got.Graphs != 300 {
		t.Errorf("%d captures, %d launches of graphs", got.Captures, got.Graphs)
	}
}

// TestVaryPlaces: more numbers than there are places are refused, none is lost.
func TestVaryPlaces(t *testing.T) {
	s := newStep(t, fake.Options{})
	s.card.Gather()
	want := 1.0
	for i := range 100 {
		s.launch(s.y, 0.5+float64(i)/100, true, 1)
		want = want*(0.5+float64(i)/100) + 1
	}
	s.card.Carry()
	if y, _ := s.read(t); y[0] != want {
		t.Errorf("%v, want %v", y[0], want)
	}
	if s.card.Vary(1) != 0 {
		t.Error("numbers vary where nothing is gathered")
	}
}

// TestLostInGraph: a launch that fails within a graph is told at the next Sync.
func TestLostInGraph(t *testing.T) {
	s := newStep(t, fake.Options{FailAt: 13}) // of the third step, the second graph
	for k := range 4 {
		s.card.Gather()
		s.make(1)
		s.card.Carry()
		if err := s.card.Sync(); errors.Is(err, driver.ErrLost) != (k >= 2) {
			t.Errorf("step %d: %v", k, err)
		}
	}
}
