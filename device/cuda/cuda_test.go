//go:build cuda

package cuda_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/device/devicetest"
)

// libraries builds the fake libraries once for all tests; the folder is removed
// when they are done.
var libraries = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kestrel-cuda-test")
	if err != nil {
		return "", err
	}
	return dir, fake.Build(dir)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := libraries(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// pretend makes the process see fake cards, whose kernels run on the host.
func pretend(t *testing.T, o fake.Options) {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++, which the fake card's kernels are compiled with")
	}
	dir, err := libraries()
	if err != nil {
		t.Fatal(err)
	}
	if o.Include, err = filepath.Abs("source"); err != nil {
		t.Fatal(err)
	}
	fake.Use(t, dir, o)
	t.Setenv("KESTREL_FAKE_CXXFLAGS", "-O1 -ffp-contract=off")
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache")) // what one test has compiled serves the next
}

func open(t *testing.T, o cuda.Options) *cuda.Device {
	t.Helper()
	d, err := cuda.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestConformance runs the suite with the interpreter, so that little is
// compiled.
func TestConformance(t *testing.T) {
	pretend(t, fake.Options{Cards: 2})
	devicetest.Run(t, func() (device.Device, error) { return cuda.Open(cuda.Options{Generate: cuda.GenerateNever}) })
}

// TestConformanceReversed runs the threads of every block in the opposite
// order: what depends on the order lacks a barrier.
func TestConformanceReversed(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite a second time is skipped with -short")
	}
	pretend(t, fake.Options{})
	t.Setenv("KESTREL_EMULATE_ORDER", "reverse")
	devicetest.Run(t, func() (device.Device, error) { return cuda.Open(cuda.Options{Generate: cuda.GenerateNever}) })
}

// TestConformanceGenerated runs the suite with generated code, products by the
// (emulated) instructions of the tensor cores.
func TestConformanceGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling the suite's expressions is skipped with -short")
	}
	pretend(t, fake.Options{})
	devicetest.Run(t, func() (device.Device, error) {
		return cuda.Open(cuda.Options{Generate: cuda.GenerateAlways, Defines: []string{"-DEMULATE_TENSOR"}})
	})
}
