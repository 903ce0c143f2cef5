//go:build cuda

package proving_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/device/cuda/proving"
	"example.com/kestrel/device/trial"
	"example.com/kestrel/internal/goroutines"
)

var built string // the folder of the fake libraries, "" where no test has asked for them

var libraries = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kestrel-cuda-test")
	if err != nil {
		return "", err
	}
	built = dir
	return dir, fake.Build(dir)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// cards are fake ones, with a cache of their own that has what was compiled before.
func cards(t *testing.T, o fake.Options) (*driver.Driver, driver.CardInfo) {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++, which the fake card's kernels are compiled with")
	}
	dir, err := libraries()
	if err != nil {
		t.Fatal(err)
	}
	if o.Include, err = filepath.Abs("../source"); err != nil {
		t.Fatal(err)
	}
	o.Cache = t.TempDir()
	fake.Use(t, dir, o)
	t.Setenv("KESTREL_FAKE_CXXFLAGS", "-O1 -ffp-contract=off")
	if o.Bend == [3]string{} && o.Refuse == "" { // what one test has compiled serves the next
		compiled := filepath.Join(dir, "compiled")
		if err := errors.Join(os.MkdirAll(compiled, 0o755), os.MkdirAll(filepath.Join(o.Cache, "kestrel"), 0o755),
			os.Symlink(compiled, filepath.Join(o.Cache, "kestrel", "cuda"))); err != nil {
			t.Fatal(err)
		}
	}
	d, err := driver.Open()
	if err != nil {
		t.Fatal(err)
	}
	return d, d.Cards()[0]
}

// kept lists the verdicts in the cache.
func kept(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "kestrel", "cards", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A sound card passes and is not asked again; another driver, or another card, is.
func TestFirst(t *testing.T) {
	d, card := cards(t, fake.Options{Cards: 2})
	v := proving.First(t.Context(), d, card, time.Minute)
	if !v.Passed || v.Reason != "" || v.Whole || v.Card != "fake card 0" || v.Driver != "12.4" || v.Compiler == "" {
		t.Fatalf("%+v", v)
	}
	if len(kept(t)) != 1 {
		t.Fatalf("kept: %q", kept(t))
	}
	if again := proving.First(t.Context(), d, card, 0); again.Card != v.Card || !again.Passed { // it has no time for a check
		t.Errorf("again: %+v", again)
	}
	if _, ok := proving.Kept(d, d.Cards()[1]); ok {
		t.Error("the other card has a verdict")
	}
	t.Setenv("KESTREL_FAKE_DRIVER", "12080")
	newer, err := driver.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := proving.Kept(newer, card); ok {
		t.Error("with another driver there is a verdict")
	}
	// What is no verdict is none.
	for _, text := range []string{"", "{", `{"card":"another","passed":true}`, `{"card":"fake card 0","passed":true,"reason":"but"}`} {
		if err := os.WriteFile(kept(t)[0], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if v, ok := proving.Kept(d, card); ok {
			t.Errorf("%q is taken for %+v", text, v)
		}
	}
}

// What is wrong with a card is found, and kept where it will be so again.
func TestFirstOnFaultyCards(t *testing.T) {
	for _, c := range []struct {
		name     string
		o        fake.Options
		patience time.Duration
		want     string
		lasting  bool
	}{
		{"bits", fake.Options{Bend: [3]string{"matrices.cu", "exp(-0.5 * rho)", "exp(-0.5 * rho) * (1 + 4e-16)"}}, time.Minute,
			"generated code and the interpreter: wrong numbers", true},
		{"solves", fake.Options{Bend: [3]string{"kestrel.cu", "x[i] *= inverse[i0 + i];", "x[i] *= inverse[i0 + i] * (1 + 1e-7);"}}, time.Minute,
			"against the CPU: wrong numbers", true},
		{"at once", fake.Options{Bend: [3]string{"kestrel.cu", "v += s * s - u * u;", "v += s * s - u * u * (1 + 1e-6);"}}, time.Minute,
			"made at once", true},
		{"lost", fake.Options{FailAt: 30}, time.Minute, "the card is lost", false},
		{"memory", fake.Options{Memory: 100 << 10}, time.Minute, "out of memory", false},
		{"silent", fake.Options{HangAt: 20, HangFor: 2 * time.Second}, time.Second, "no answer from the card within 1s", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, card := cards(t, c.o)
			v := proving.First(t.Context(), d, card, c.patience)
			if v.Passed || !strings.Contains(v.Reason, c.want) && !(c.name == "lost" && strings.Contains(v.Reason, "launch failure")) {
				t.Errorf("%+v", v)
			}
			if got := len(kept(t)) == 1; got != c.lasting {
				t.Errorf("kept: %v; %s", got, v.Reason)
			}
			if c.name == "silent" {
				goroutines.End(t, c.name) // the driver is one for all tests
			}
		})
	}
}

// A compiler that refuses the kernels is no fault of the card's.
func TestFirstWithoutGeneratedCode(t *testing.T) {
	d, card := cards(t, fake.Options{Refuse: "// SE\n"})
	if v := proving.First(t.Context(), d, card, time.Minute); !v.Passed {
		t.Errorf("%+v", v)
	}
}

func smallPlan() proving.Plan {
	p := proving.WholePlan()
	p.Space, p.Steps.Count, p.Sides, p.Forms = "K12", 3, [2]int{20, 24}, trial.Forms[2:6]
	p.Suite = func(part string) bool { return part == "Adam" || part == "LogPrior" || part == "Cholesky" }
	return p
}

// The whole check tells every part of a sound card, and of one that is not what is wrong, in
// all parts that it can still make.
func TestWhole(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     fake.Options
		parts int
		wrong map[int]string
	}{
		{"sound", fake.Options{Memory: 64 << 20}, 4, nil},
		{"wrong", fake.Options{Memory: 64 << 20, Bend: [3]string{"kestrel.cu", "s += log(", "s += 1.0000001 * log("}}, 4,
			map[int]string{2: "LogDiag"}},
		{"lost", fake.Options{Memory: 64 << 20, FailAt: 60}, 2, map[int]string{1: "launch"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, card := cards(t, c.o)
			var began []string
			parts, err := proving.Whole(t.Context(), d, card, smallPlan(), func(part string) { began = append(began, part) })
			if err != nil || len(parts) != c.parts || len(began) != c.parts {
				t.Fatalf("%d parts, %q, %v: %+v", len(parts), began, err, parts)
			}
			for i, p := range parts {
				want, wrong := c.wrong[i]
				if wrong != (p.Err != nil) || wrong == (p.Found != "") || wrong && !strings.Contains(p.Err.Error(), want) {
					t.Errorf("%s: %q, %v", p.Name, p.Found, p.Err)
				}
			}
			v, keep := proving.Judge(d, card, parts)
			if keep != (c.name != "lost") {
				t.Errorf("to be kept: %v: %+v", keep, v)
			}
			if v.Passed != (c.wrong == nil) || v.Passed != (v.Reason == "") || !v.Whole {
				t.Errorf("verdict %+v", v)
			}
		})
	}
	d, card := cards(t, fake.Options{})
	short, wrong := fmt.Errorf("a: %w", driver.ErrOutOfMemory), fmt.Errorf("b: %w", trial.ErrWrong)
	for _, c := range []struct {
		parts  []proving.Part
		reason string
		keep   bool
	}{
		{[]proving.Part{{Name: "steps"}}, "", true},
		{[]proving.Part{{Name: "steps", Err: short}, {Name: "speed", Err: errors.New("late")}}, "steps: a: ", false},
		{[]proving.Part{{Name: "steps", Err: short}, {Name: "suite", Err: wrong}, {Name: "memory", Err: wrong}}, "suite: b: ", true},
		{[]proving.Part{{Name: "steps", Err: wrong}, {Name: "memory", Err: short}}, "steps: b: ", true},
	} {
		if v, keep := proving.Judge(d, card, c.parts); keep != c.keep || !strings.HasPrefix(v.Reason, c.reason) || v.Passed != (c.reason == "") {
			t.Errorf("%+v: kept: %v, %+v", c.parts, keep, v)
		}
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if _, err := proving.Whole(ctx, d, card, smallPlan(), nil); !errors.Is(err, enough) {
		t.Errorf("cancelled: %v", err)
	}
}
