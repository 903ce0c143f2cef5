//go:build cuda

// Package fake builds a libcuda, a libnvrtc and a libcublas that need no card (source), for
// tests of what is written for one.
package fake

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/device/cuda/driver"
)

//go:embed source
var source embed.FS

// Options says how the fake libraries behave. Zero values are those of a
// machine with one sound card.
type Options struct {
	Include  string // the folder of emulate.h
	NoCard   bool
	Cards    int    // 1 where 0
	Memory   int64  // bytes of a card; 2 GiB where 0
	Driver   int    // the driver's CUDA version, 12040 where 0
	FailAt   int    // this launch, counted from 1 on each card, and all later ones fail
	FailCard int    // number of the only card that fails, from 1; all where 0
	Arch     int    // compute capability, 90 where 0
	Shared   int    // bytes of shared memory that a block can ask for, 227 KiB where 0
	OddCard  int    // number of the only card with that Arch and Shared, from 1; all where 0
	Refuse   string // the compiler refuses sources with this in them
	HangAt   int    // this launch, counted from 1 on each card, takes HangFor
	HangFor  time.Duration
	Ratio    int       // how many times faster FP32 is than FP64, 2 where 0
	Bend     [3]string // in the source of this name, this text is taken for the third
	Events   int       // this event, counted from 1 on each card, cannot be made
	PTX      string    // the shared object that any PTX stands for; none where empty
	Graphs   int       // 1: the driver records no graphs, 2: it has no memory for them
	// Idle cards carry nothing out and hold nothing: to count what they are asked for at any size. Of their modules
	// none may come to a cache that others use.
	Idle       bool
	Processors int    // multiprocessors of a card, 4 where 0
	Cache      string // the folder of compiled modules, a new one where empty
}

// Build compiles the libraries into a folder.
func Build(dir string) error {
	for _, name := range []string{"libcuda", "libnvrtc", "libcublas"} {
		text, err := source.ReadFile("source/" + name + ".cc")
		if err != nil {
			return err
		}
		file := filepath.Join(dir, name+".cc")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
		out, err := exec.Command("g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=hidden", "-o",
			filepath.Join(dir, name+".so"), file, "-ldl").CombinedOutput()
		if err != nil {
			return fmt.Errorf("g++ %s: %w\n%s", file, err, out)
		}
	}
	return nil
}

// Use makes package driver find the libraries in a folder that Build filled,
// until the test ends. The libraries stay open in the
// process; each driver.Open reads the options anew.
func Use(t testing.TB, dir string, o Options) {
	t.Helper()
	set := func(name string, value int64) {
		text := ""
		if value != 0 {
			text = strconv.FormatInt(value, 10)
		}
		t.Setenv(name, text)
	}
	t.Setenv(driver.CUDAVariable, filepath.Join(dir, "libcuda.so"))
	t.Setenv(driver.NVRTCVariable, filepath.Join(dir, "libnvrtc.so"))
	t.Setenv(driver.CUBLASVariable, filepath.Join(dir, "libcublas.so"))
	t.Setenv("KESTREL_FAKE_DIR", dir)
	t.Setenv("KESTREL_FAKE_INCLUDE", o.Include)
	if o.Cache == "" {
		o.Cache = t.TempDir()
	}
	t.Setenv("XDG_CACHE_HOME", o.Cache)
	set("KESTREL_FAKE_CARDS", int64(o.Cards))
	if o.NoCard {
		t.Setenv("KESTREL_FAKE_CARDS", "0")
	}
	set("KESTREL_FAKE_MEMORY", o.Memory)
	set("KESTREL_FAKE_DRIVER", int64(o.Driver))
	set("KESTREL_FAKE_FAIL_AT", int64(o.FailAt))
	set("KESTREL_FAKE_FAIL_CARD", int64(o.FailCard-1))
	set("KESTREL_FAKE_ARCH", int64(o.Arch))
	set("KESTREL_FAKE_SHARED", int64(o.Shared))
	set("KESTREL_FAKE_ODD_CARD", int64(o.OddCard))
	set("KESTREL_FAKE_HANG_AT", int64(o.HangAt))
	set("KESTREL_FAKE_HANG_MS", o.HangFor.Milliseconds())
	set("KESTREL_FAKE_RATIO", int64(o.Ratio))
	t.Setenv("KESTREL_FAKE_BEND", strings.Join(o.Bend[:], "\n"))
	set("KESTREL_FAKE_EVENTS", int64(o.Events))
	set("KESTREL_FAKE_GRAPHS", int64(o.Graphs))
	set("KESTREL_FAKE_PROCESSORS", int64(o.Processors))
	set("KESTREL_FAKE_IDLE", 0)
	if o.Idle {
		set("KESTREL_FAKE_IDLE", 1)
	}
	t.Setenv("KESTREL_FAKE_PTX", o.PTX)
	t.Setenv("KESTREL_FAKE_REFUSE", o.Refuse)
	if o.FailCard == 0 {
		t.Setenv("KESTREL_FAKE_FAIL_CARD", "-1")
	}
}
