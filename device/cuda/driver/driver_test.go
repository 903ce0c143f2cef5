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

	"kestrel/device"
	"kestrel/device/cuda/driver"
	"kestrel/device/cuda/driver/fake"
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
	want := driver.CardInfo{Index: 2, Name: "fake card 2", Major: 9, Memory: 1 << 20, Multiprocessors: 4, SharedPerBlock: 227 << 10, Pools: true}
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
// the copy comes later, at all sizes around those of the staging ring.
func TestCopies(t *testing.T) {
	c := card(t, use(t, fake.Options{}), 0)
	const segment = 1 << 19
	for _, n := range []int{1, 2, 3, segment/8 - 1, segment / 8, segment/8 + 1, 9 * segment / 8, 20*segment/8 + 5} {
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

// A launch that the driver refuses at once comes out of Sync, once; what was
// asked for behind it is not done.
func TestRefusedLaunch(t *testing.T) {
	c := card(t, use(t, fake.Options{}), 0)
	f := function(t, c, "reversed")
	p := alloc(t, c, 8*64)
	c.Memset(p, 0, 8*64)
	if err := c.Sync(); err != nil {
		t.Fatal(err)
	}
	c.Launch(f, [3]int{1, 1, 1}, [3]int{2048, 1, 1}, 0, uint64(p), uint64(p))
	c.Memset(p, 1, 8*64)
	err := c.Sync()
	var e *driver.Error
	if !errors.As(err, &e) || e.Code != 1 || !strings.Contains(err.Error(), "reversed") || !strings.Contains(err.Error(), "fake card 0") {
		t.Fatalf("error %v", err)
	}
	if errors.Is(err, driver.ErrLost) {
		t.Error("the card is not lost")
	}
	got := make([]float64, 64)
	if err := driver.CopyOut(c, got, p); err != nil || got[0] != 0 {
		t.Errorf("afterwards: %g, %v", got[0], err)
	}
	// More shared memory than usual must be asked for.
	c.Launch(f, [3]int{1, 1, 1}, [3]int{64, 1, 1}, 100<<10, uint64(p), uint64(p))
	if err := c.Sync(); err == nil {
		t.Error("100 KiB of shared memory were granted")
	}
	if err := f.SetSharedLimit(100 << 10); err != nil {
		t.Fatal(err)
	}
	c.Launch(f, [3]int{1, 1, 1}, [3]int{64, 1, 1}, 100<<10, uint64(p), uint64(p))
	if err := c.Sync(); err != nil {
		t.Error(err)
	}
	if err := f.SetSharedLimit(1 << 20); err == nil {
		t.Error("1 MiB of shared memory was granted")
	}
	c.Free(p)
}

func TestLostCard(t *testing.T) {
	d := use(t, fake.Options{Cards: 2, FailAt: 3, FailCard: 2})
	sound := card(t, d, 0)
	c, err := d.Card(1)
	if err != nil {
		t.Fatal(err)
	}
	run := func(c *driver.Card) error {
		f := function(t, c, "reversed")
		p := alloc(t, c, 8*64)
		c.Memset(p, 0, 8*64)
		for range 5 {
			c.Launch(f, [3]int{1, 1, 1}, [3]int{64, 1, 1}, 0, uint64(p), uint64(p))
		}
		return c.Sync()
	}
	if err := run(c); !errors.Is(err, driver.ErrLost) || errors.Is(err, driver.ErrOutOfMemory) {
		t.Fatalf("error %v", err)
	}
	// It stays lost, whatever is asked.
	if err := c.Sync(); !errors.Is(err, driver.ErrLost) {
		t.Errorf("second Sync: %v", err)
	}
	if err := driver.CopyOut(c, make([]float64, 1), 8); !errors.Is(err, driver.ErrLost) {
		t.Errorf("CopyOut: %v", err)
	}
	if _, err := c.Alloc(8); !errors.Is(err, driver.ErrLost) {
		t.Errorf("Alloc: %v", err)
	}
	if err := run(sound); err != nil {
		t.Errorf("the other card: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	// Closing reset it.
	again := card(t, use(t, fake.Options{Cards: 2}), 1)
	if err := run(again); err != nil {
		t.Errorf("after a reset: %v", err)
	}
}

func TestOutOfMemory(t *testing.T) {
	c := card(t, use(t, fake.Options{Memory: 1 << 20}), 0)
	p := alloc(t, c, 600<<10)
	_, err := c.Alloc(600 << 10)
	if !errors.Is(err, driver.ErrOutOfMemory) || errors.Is(err, driver.ErrLost) || !strings.Contains(err.Error(), "1048576") {
		t.Fatalf("error %v", err)
	}
	free, total, err := c.MemInfo()
	if err != nil || total != 1<<20 || free != 424<<10 {
		t.Errorf("%d of %d bytes free, %v", free, total, err)
	}
	// What is given back can be taken again, and nothing else was harmed.
	c.Free(p)
	p = alloc(t, c, 600<<10)
	if err := c.Sync(); err != nil {
		t.Error(err)
	}
	if c.InUse() != 600<<10 {
		t.Errorf("%d bytes in use", c.InUse())
	}
	c.Free(p)
}

// What is freed while a failure is kept is free afterwards.
func TestFreeAfterFailure(t *testing.T) {
	c := card(t, use(t, fake.Options{Memory: 1 << 20}), 0)
	f := function(t, c, "reversed")
	p := alloc(t, c, 600<<10)
	c.Launch(f, [3]int{1, 1, 1}, [3]int{2048, 1, 1}, 0, uint64(p), uint64(p))
	if c.Err() == nil {
		t.Fatal("no failure is kept")
	}
	c.Free(p)
	if err := c.Sync(); err == nil {
		t.Error("the failure is not told")
	}
	if free, _, err := c.MemInfo(); err != nil || free != 1<<20 {
		t.Errorf("%d bytes are free, %v", free, err)
	}
	c.Free(alloc(t, c, 600<<10))
	if err := c.Sync(); err != nil {
		t.Error(err)
	}
}

// Sync waits also where it has a failure to tell, and does not forget the loss of
// the card behind it.
func TestSyncWaitsAfterFailure(t *testing.T) {
	d := use(t, fake.Options{FailAt: 2})
	c, err := d.Card(0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	f := function(t, c, "reversed")
	p := alloc(t, c, 8*64)
	for range 2 {
		c.Launch(f, [3]int{1, 1, 1}, [3]int{64, 1, 1}, 0, uint64(p), uint64(p))
	}
	c.Launch(f, [3]int{1, 1, 1}, [3]int{2048, 1, 1}, 0, uint64(p), uint64(p)) // refused at once
	if err := c.Sync(); !errors.Is(err, driver.ErrLost) || !strings.Contains(err.Error(), "invalid argument") {
		t.Errorf("Sync returns %v", err)
	}
	if err := c.Sync(); !errors.Is(err, driver.ErrLost) {
		t.Errorf("the second Sync returns %v", err)
	}
}

// Copies work, or say why not, where the memory that they go through cannot be
// had at first.
func TestCopiesWithoutEvents(t *testing.T) {
	for _, event := range []int{1, 3} {
		t.Run(fmt.Sprint(event), func(t *testing.T) {
			c := card(t, use(t, fake.Options{Events: event}), 0)
			p := alloc(t, c, 8)
			driver.CopyIn(c, p, []float64{1})
			if err := c.Sync(); !errors.Is(err, driver.ErrOutOfMemory) {
				t.Error(err)
			}
			driver.CopyIn(c, p, []float64{2})
			got := make([]float64, 1)
			if err := driver.CopyOut(c, got, p); err != nil || got[0] != 2 {
				t.Errorf("afterwards: %v, %v", got, err)
			}
			c.Free(p)
		})
	}
}

// The errors are those of package device, too.
func TestSentinels(t *testing.T) {
	if !errors.Is(driver.ErrOutOfMemory, device.ErrOutOfMemory) || !errors.Is(driver.ErrLost, device.ErrLost) {
		t.Error("the sentinels do not wrap those of package device")
	}
	for code, want := range map[int]error{2: device.ErrOutOfMemory, 719: device.ErrLost} {
		if err := error(&driver.Error{Code: code}); !errors.Is(err, want) || errors.Is(err, device.ErrLost) != (code == 719) {
			t.Errorf("error %d is not %v", code, want)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	c := card(t, use(t, fake.Options{}), 0)
	_, err := c.Compile("wrong.cu", "extern \"C\" __global__ void k() {\n  unknown_name = 3;\n}\n")
	if err == nil || !strings.Contains(err.Error(), "wrong.cu:2") || !strings.Contains(err.Error(), "unknown_name") {
		t.Fatalf("error %v", err)
	}
	m, err := c.Compile("axpy.cu", axpy)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Function("axpi"); err == nil || !strings.Contains(err.Error(), "axpi") {
		t.Errorf("error %v", err)
	}
	if _, err := c.Load([]byte("nonsense")); err == nil {
		t.Error("nonsense was loaded")
	}
	if err := m.Unload(); err != nil {
		t.Error(err)
	}
}

func TestCache(t *testing.T) {
	c := card(t, use(t, fake.Options{Cache: t.TempDir()}), 0)
	modules := t.TempDir()
	t.Setenv("KESTREL_FAKE_DIR", modules)
	compile := func(source string) error {
		m, err := c.Compile("k.cu", source)
		if err == nil {
			_, err = m.Function("k")
		}
		return err
	}
	source := "extern \"C\" __global__ void k() {}\n"
	if err := compile(source); err != nil {
		t.Fatal(err)
	}
	cxx := func(name string) { t.Setenv("KESTREL_FAKE_CXX", name) }
	cxx("/nowhere/g++")
	if err := compile(source + "\n"); err == nil {
		t.Fatal("another source was found in the cache")
	}
	if err := compile(source); err != nil {
		t.Fatalf("not found in the cache: %v", err)
	}
	files, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "kestrel", "cuda", "*"))
	if len(files) != 1 {
		t.Fatalf("the cache holds %q", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	// A damaged file is compiled anew, as is one whose image the card refuses.
	for _, bad := range [][]byte{text[:len(text)-3], append(slices.Clone(text[:len(text)-3]), "..."...), nil} {
		if err := os.WriteFile(files[0], bad, 0o600); err != nil {
			t.Fatal(err)
		}
		cxx("/nowhere/g++")
		if err := compile(source); err == nil {
			t.Error("a damaged file was taken")
		}
		cxx("g++")
		if err := compile(source); err != nil {
			t.Error(err)
		}
	}
	objects, _ := filepath.Glob(filepath.Join(modules, "module-*.so"))
	for _, o := range objects {
		os.Remove(o)
	}
	if err := compile(source); err != nil {
		t.Errorf("after its image went: %v", err)
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

// The real compiler, where there is one; no card is needed.
func TestRealCompiler(t *testing.T) {
	if strings.Contains(child(t, "TestChildRealCompiler"), "--- SKIP") {
		t.Skip("no libnvrtc")
	}
}

func TestChildRealCompiler(t *testing.T) {
	inChild(t)
	c, err := driver.OpenCompiler(0)
	if errors.Is(err, driver.ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	target := c.Target(90)
	image, err := c.Compile("axpy.cu", axpy, target, "-Xptxas=-v")
	if err != nil {
		t.Fatal(err)
	}
	if target != "sm_90" || string(image.Code[:4]) != "\x7fELF" {
		t.Errorf("the code for %s begins with %q", target, image.Code[:4])
	}
	if !strings.Contains(image.Log, "0 bytes spill stores") {
		t.Errorf("log %q", image.Log)
	}
	image, err = c.Compile("axpy.cu", axpy, "compute_80")
	if err != nil || !strings.Contains(string(image.Code), ".target sm_80") || strings.ContainsRune(string(image.Code), 0) {
		t.Errorf("PTX %.200s, %v", image.Code, err)
	}
	if _, err := c.Compile("wrong.cu", "__global__ void k() { unknown_name = 3; }", target); err == nil || !strings.Contains(err.Error(), "unknown_name") {
		t.Errorf("error %v", err)
	}
	// A card that is newer than the compiler runs PTX of the newest it knows.
	if got := c.Target(99999); !strings.HasPrefix(got, "compute_") || got == "compute_99999" {
		t.Errorf("target of a future card: %s", got)
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
