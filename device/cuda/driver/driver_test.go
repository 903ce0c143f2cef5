//go:build cuda

package driver_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/driver/fake"
)

const childVariable = "KESTREL_TEST_CHILD"

// folder is where the fake libraries go; the first test that wants them builds
// them.
var folder string

var build = sync.OnceValue(func() error { return fake.Build(folder) })

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "kestrel-fake-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

func use(t testing.TB, o fake.Options) *driver.Driver {
	t.Helper()
	configure(t, o)
	d, err := driver.Open()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func configure(t testing.TB, o fake.Options) {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++ for the fake libraries")
	}
	if err := build(); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.Include, err = filepath.Abs("../source"); err != nil {
		t.Fatal(err)
	}
	if o.Cache == "" {
		o.Cache = filepath.Join(folder, "cache")
	}
	t.Setenv("KESTREL_FAKE_CXXFLAGS", "-O0")
	fake.Use(t, folder, o)
}

func card(t testing.TB, d *driver.Driver, i int) *driver.Card {
	t.Helper()
	c, err := d.Card(i)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

func alloc(t testing.TB, c *driver.Card, bytes int) driver.Ptr {
	t.Helper()
	p, err := c.Alloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// child runs one test in a process of its own, where no library is open yet,
// with the environment of this one and more.
func child(t *testing.T, name string, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.v", "-test.count=1")
	cmd.Env = append(append(os.Environ(), childVariable+"=1"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func inChild(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		t.Skip("runs in a process of its own")
	}
}

const axpy = `
extern "C" __global__ void axpy(double *y, const double *x, double alpha, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] += alpha * x[i];
}
extern "C" __global__ void __launch_bounds__(64) reversed(const double *x, double *y) {
	__shared__ double s[64];
	s[threadIdx.x] = x[threadIdx.x];
	__syncthreads();
	y[threadIdx.x] = s[63 - threadIdx.x];
}
`

func function(t testing.TB, c *driver.Card, name string) driver.Function {
	t.Helper()
	m, err := c.Compile("axpy.cu", axpy)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNoDriver(t *testing.T) {
	child(t, "TestChildWithoutDriver", driver.CUDAVariable+"=/nowhere/libcuda.so.1")
}

func TestChildWithoutDriver(t *testing.T) {
	inChild(t)
	for range 2 {
		_, err := driver.Open()
		if !errors.Is(err, driver.ErrNoDriver) || errors.Is(err, driver.ErrNoDevice) {
			t.Fatalf("error %v", err)
		}
		if text := err.Error(); !strings.Contains(text, "/nowhere/libcuda.so.1") || strings.Contains(text, "\n") {
			t.Errorf("error %q", text)
		}
	}
}

func TestNotALibrary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	child(t, "TestChildNotALibrary", driver.CUDAVariable+"="+file)
}

func TestChildNotALibrary(t *testing.T) {
	inChild(t)
	if _, err := driver.Open(); !errors.Is(err, driver.ErrNoDriver) {
		t.Fatalf("error %v", err)
	}
}

func TestNoCard(t *testing.T) {
	configure(t, fake.Options{NoCard: true})
	_, err := driver.Open()
	if !errors.Is(err, driver.ErrNoDevice) || errors.Is(err, driver.ErrNoDriver) {
		t.Fatalf("error %v", err)
	}
}

func TestOldDriver(t *testing.T) {
	configure(t, fake.Options{Driver: 11010})
	_, err := driver.Open()
	if !errors.Is(err, driver.ErrNoDriver) || !strings.Contains(err.Error(), "11.1") {
		t.Fatalf("error %v", err)
	}
}

func TestCards(t *testing.T) {
	d := use(t, fake.Options{Cards: 3, Memory: 1 << 20})
	cards := d.Cards()
	if len(cards) != 3 {
		t.Fatalf("%d cards", len(cards))
	}
	want := driver.CardInfo{Index: 2, Name: "fake card 2", Major: 9, Memory: 1 << 20, Multiprocessors: 4, SharedPerBlock: 227 << 10,
		Pools: true, Clock: 1e9, Ratio: 2, UUID: "03030303-0303-0303-0303-030303030303"}
	if cards[2] != want {
		t.Errorf("card 2 is %+v, not %+v", cards[2], want)
	}
	if v := d.Version(); v != "12.4" {
		t.Errorf("version %s", v)
	}
	if _, err := d.Card(3); !errors.Is(err, driver.ErrNoDevice) {
		t.Errorf("card 3: %v", err)
	}
}

// What is copied in is what the slice held at the time of the call, although
// the copy comes later, and what is copied out is there, at all sizes around
// those of the memory that copies go through.
func TestCopies(t *testing.T) {
	c := card(t, use(t, fake.Options{}), 0)
	const segment, piece = 1 << 19, 1 << 22
	for _, n := range []int{
		1, 2, 3, segment/8 - 1, segment / 8, segment/8 + 1, 9 * segment / 8, 20*segment/8 + 5,
		piece/8 - 1, piece / 8, piece/8 + 1, 2 * piece / 8, 2*piece/8 + 1, 4*piece/8 + piece/32,
	} {
		p, q := alloc(t, c, 8*n), alloc(t, c, 8*n)
		src := make([]float64, n)
		for round := range 12 {
			for i := range src {
				src[i] = float64(1000*round + i%991)
			}
			driver.CopyIn(c, p.Add(0), src)
			for i := range src {
				src[i] = math.NaN()
			}
		}
		c.CopyDevice(q, p, 8*n)
		got := make([]float64, n)
		if err := driver.CopyOut(c, got, q); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != float64(11000+i%991) {
				t.Fatalf("%d numbers: number %d is %g", n, i, v)
			}
		}
		c.Free(p)
		c.Free(q)
	}
	// Many small ones, which share a segment.
	const n = 40000
	p := alloc(t, c, 4*n)
	one := make([]int32, 1)
	for i := range n {
		one[0] = int32(i * 7)
		driver.CopyIn(c, p.Add(4*i), one)
	}
	got := make([]int32, n)
	if err := driver.CopyOut(c, got, p); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != int32(i*7) {
			t.Fatalf("number %d is %d", i, v)
		}
	}
	c.Memset(p.Add(4), 0xFF, 4)
	if err := driver.CopyOut(c, got[:3], p); err != nil || !slices.Equal(got[:3], []int32{0, -1, 14}) {
		t.Errorf("after a set: %v, %v", got[:3], err)
	}
	c.Free(p)
	if c.InUse() != 0 {
		t.Errorf("%d bytes in use", c.InUse())
	}
}

func TestLaunch(t *testing.T) {
	c := card(t, use(t, fake.Options{}), 0)
	f := function(t, c, "axpy")
	const n = 1000
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = float64(i), float64(i*i)
	}
	px, py := alloc(t, c, 8*n), alloc(t, c, 8*n)
	driver.CopyIn(c, px, x)
	driver.CopyIn(c, py, y)
	c.Launch(f, [3]int{8, 1, 1}, [3]int{128, 1, 1}, 0, uint64(py), uint64(px), driver.Float(0.5), driver.Int(n-1))
	c.Launch(f, [3]int{0, 1, 1}, [3]int{128, 1, 1}, 0, uint64(py), uint64(px), driver.Float(0.5), driver.Int(n))
	got := make([]float64, n)
	if err := driver.CopyOut(c, got, py); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		want := y[i]
		if i < n-1 {
			want += 0.5 * x[i]
		}
		if v != want {
			t.Fatalf("number %d is %g, not %g", i, v, want)
		}
	}
	c.Launch(function(t, c, "reversed"), [3]int{1, 1, 1}, [3]int{64, 1, 1}, 0, uint64(px), uint64(py))
	if err := driver.CopyOut(c, got[:64], py); err != nil || got[0] != 63 || got[63] != 0 {
		t.Errorf("reversed: %v, %v", got[:64], err)
	}
	c.Free(px)
	c.Free(py)
	if a, err := f.Attributes(); err != nil || a.Registers != 32 || a.MaxThreads != 1024 || a.Local != 0 {
		t.Errorf("attributes %+v, %v", a, err)
	}
}

// Cards are used by turns on one goroutine, and modules compiled on many, while
// Go moves goroutines between threads.
func TestThreads(t *testing.T) {
	d := use(t, fake.Options{Cards: 2})
	cards := []*driver.Card{card(t, d, 0), card(t, d, 1)}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			m, err := cards[i%2].Compile(fmt.Sprintf("k%d.cu", i), fmt.Sprintf("extern \"C\" __global__ void k(double *x) { x[0] = %d; }\n", i))
			if err == nil {
				_, err = m.Function("k")
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	p := []driver.Ptr{alloc(t, cards[0], 8), alloc(t, cards[1], 8)}
	for i := range 200 {
		for k, c := range cards {
			driver.CopyIn(c, p[k], []float64{float64(i + k)})
		}
		for k, c := range cards {
			got := make([]float64, 1)
			if err := driver.CopyOut(c, got, p[k]); err != nil || got[0] != float64(i+k) {
				t.Fatalf("card %d: %g, %v", k, got[0], err)
			}
		}
	}
	wg.Wait()
	for k, c := range cards {
		c.Free(p[k])
	}
}

func TestOpenTwice(t *testing.T) {
	d := use(t, fake.Options{})
	for range 3 {
		c, err := d.Card(0)
		if err != nil {
			t.Fatal(err)
		}
		p := alloc(t, c, 64)
		driver.CopyIn(c, p, []float64{1})
		// Close gives what is still held back.
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkLaunch(b *testing.B) {
	c := card(b, use(b, fake.Options{}), 0)
	m, err := c.Compile("k.cu", "extern \"C\" __global__ void k(double *x, const double *y, double a, int n) { }\n")
	if err != nil {
		b.Fatal(err)
	}
	f, err := m.Function("k")
	if err != nil {
		b.Fatal(err)
	}
	p := alloc(b, c, 8)
	b.ReportAllocs()
	for b.Loop() {
		c.Launch(f, [3]int{1, 1, 1}, [3]int{1, 1, 1}, 0, uint64(p), uint64(p), driver.Float(1), driver.Int(2))
	}
	if err := c.Sync(); err != nil {
		b.Fatal(err)
	}
	c.Free(p)
}
