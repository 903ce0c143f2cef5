//go:build cuda

package prepare

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/device/cuda/proving"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/must"
)

// Without a driver "auto" takes the CPU and says so once; "cuda" is refused.
func TestOpenDeviceWithoutDriver(t *testing.T) {
	t.Setenv(driver.CUDAVariable, "/nowhere/libcuda.so.1")
	if _, err := driver.Open(); err == nil {
		t.Skip("a driver is open in this process")
	}
	if _, err := OpenDevice(config.DeviceChoice{Kind: "cuda"}); !errors.Is(err, driver.ErrNoDriver) ||
		!strings.Contains(err.Error(), "device.kind") {
		t.Errorf("error %v", err)
	}
	c, err := config.Load("quickstart", nil)
	if err != nil {
		t.Fatal(err)
	}
	j, err := Prepare(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if kind := j.dev.Info().Kind; kind != "cpu" {
		t.Errorf("the run is on %s", kind)
	}
	said := 0
	for _, n := range j.Notices {
		if strings.Contains(n, "computing on the CPU") && strings.Contains(n, "no CUDA driver") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("notices %q", j.Notices)
	}
}

// A card that computes what it should is taken, and told of when it has been checked; one that does
// not is left for the CPU, whatever was asked for, and its figures decide where "auto" is.
func TestOpenCheckedDevice(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++, which the fake card's kernels are compiled with")
	}
	dir := t.TempDir()
	must.OK(t, fake.Build(dir))
	include, err := filepath.Abs("../../device/cuda/source")
	must.OK(t, err)
	use := func(o fake.Options) {
		o.Include = include
		fake.Use(t, dir, o)
		t.Setenv("KESTREL_FAKE_CXXFLAGS", "-O1 -ffp-contract=off")
	}
	taken := func(kind string, load Load, wantKind string, want ...string) {
		t.Helper()
		dev, notice, err := openDevice(t.Context(), config.DeviceChoice{Kind: kind}, load)
		must.OK(t, err)
		defer func() { must.OK(t, dev.Close()) }()
		if got := dev.Info().Kind; got != wantKind || (notice == "") != (len(want) == 0) {
			t.Errorf("%s, %+v: %s, %q", kind, load, got, notice)
		}
		for _, w := range want {
			if !strings.Contains(notice, w) {
				t.Errorf("%s, %+v: no %q in %q", kind, load, w, notice)
			}
		}
	}
	use(fake.Options{Ratio: 32})
	taken("cuda", Load{}, "cuda", "was checked before its first use", "at 1/32 of its single precision")
	d, err := driver.Open()
	must.OK(t, err)
	v, ok := proving.Kept(d, d.Cards()[0])
	if !ok || !v.Passed {
		t.Fatalf("%+v, %v", v, ok)
	}
	v.Whole = true
	v.Speeds = []proving.Speed{{Work: "a", Inducing: 16, Kernels: 144, Card: 1, CPU: 5},
		{Work: "c", Inducing: 800, Kernels: 144, Card: 30, CPU: 10},
		{Work: "d", Bound: true, Inducing: 500, Kernels: 144, Card: 10, CPU: 20}}
	must.OK(t, proving.Keep(d, d.Cards()[0], v))
	taken("auto", Load{Kernels: 144, Inducing: 16}, "cuda")
	taken("auto", Load{}, "cuda")
	taken("auto", Load{Kernels: 144, Inducing: 700}, "cpu",
		"computing on the CPU: the CPU is faster: a run of this size takes 3.0 times as long on card 0")
	taken("cuda", Load{Kernels: 144, Inducing: 700}, "cuda",
		"a run of this size takes 3.0 times as long on card 0 (fake card 0) as on the CPU", "--device cpu")
	taken("auto", Load{144, 700, true}, "cuda")
	taken("cuda", Load{Kernels: 144, Inducing: 16}, "cuda")
	taken("cuda", Load{}, "cuda")
	v.Passed, v.Reason = false, "steps against the CPU: wrong numbers"
	must.OK(t, proving.Keep(d, d.Cards()[0], v))
	for _, kind := range []string{"cuda", "auto"} {
		taken(kind, Load{Kernels: 144, Inducing: 16}, "cpu", "computing on the CPU: no card has passed its check",
			"card 0 (fake card 0): steps against the CPU: wrong numbers",
			"kestrel devices --check")
	}
	use(fake.Options{FailAt: 5})
	taken("cuda", Load{}, "cpu", "no card has passed its check", "launch")
}
