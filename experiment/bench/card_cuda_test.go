//go:build cuda

package bench

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/device/cuda/proving"
	"example.com/kestrel/internal/goroutines"
	"example.com/kestrel/internal/must"
)

var built string // the folder of the fake libraries, "" where no test has asked for them

// libraries builds them once: a process has one driver.
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

// fakes is that folder; without g++ the test is skipped.
func fakes(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++, which the fake card's kernels are compiled with")
	}
	dir, err := libraries()
	must.OK(t, err)
	return dir
}

// checks are of fake cards, with small plans; what one has compiled serves the next.
type checks struct {
	t                            *testing.T
	libraries, compiled, include string
	plan                         cardPlan
}

func newChecks(t *testing.T) *checks {
	t.Helper()
	c := &checks{t: t, libraries: fakes(t), compiled: t.TempDir(), plan: wholeCardPlan()}
	var err error
	c.include, err = filepath.Abs("../../device/cuda/source")
	must.OK(t, err)
	p := &c.plan
	p.Space, p.Steps.Count, p.Sides, p.Forms = "K12", 2, [2]int{8, 8}, []string{"SE[2]"}
	p.Suite = func(part string) bool { return part == "Jitter" }
	p.works, p.seconds = []cardWork{{"a", "SE", "adam"}, {"a", "SE", boundStep}}, 0.01
	p.runs, p.unheard = p.works, time.Minute // this machine may be busy
	return c
}

// card is the first of fake cards, with a cache that has no verdict.
func (c *checks) card(o fake.Options) (*driver.Driver, driver.CardInfo) {
	c.t.Helper()
	o.Include, o.Memory, o.Cache = c.include, 64<<20, c.t.TempDir()
	fake.Use(c.t, c.libraries, o)
	c.t.Setenv("KESTREL_FAKE_CXXFLAGS", "-O1 -ffp-contract=off")
	if o.Bend == [3]string{} {
		must.OK(c.t, os.MkdirAll(filepath.Join(o.Cache, "kestrel"), 0o755))
		must.OK(c.t, os.Symlink(c.compiled, filepath.Join(o.Cache, "kestrel", "cuda")))
	}
	d, err := driver.Open()
	must.OK(c.t, err)
	return d, d.Cards()[0]
}

// check checks such a card, and returns its page and what is kept of it, false for nothing.
func (c *checks) check(o fake.Options, began func(part string)) (*CardReport, string, proving.Verdict, bool) {
	c.t.Helper()
	d, card := c.card(o)
	r, err := checkCard(c.t.Context(), d, card, c.plan, began)
	must.OK(c.t, err)
	var page strings.Builder
	must.OK(c.t, r.WriteText(&page))
	c.t.Log(page.String())
	v, kept := proving.Kept(d, card)
	return r, page.String(), v, kept
}

// The check of a fake card comes to a page, and its figures are kept for the choice of a device: a
// work that it has no memory for is left out. Of a card that is wrong the page and what is kept say so,
// without figures.
func TestCheckCard(t *testing.T) {
	c := newChecks(t)
	c.plan.works = append(c.plan.works, cardWork{"c", "SE;LIN;PER", "adam"}, cardWork{"d", "SE;LIN;PER", boundStep})
	r, page, v, kept := c.check(fake.Options{Ratio: 64}, nil)
	if r.Wrong != "" || len(r.Parts) != 7 || len(r.Speeds) != 2 || !(r.Speeds[0].Card > 0 && r.Speeds[0].CPU > 0 && *r.Speeds[0].Share > 0) {
		t.Errorf("%+v", r)
	}
	if !kept || !v.Passed || !v.Whole || len(v.Speeds) != 2 ||
		v.Speeds[0].Card != r.Speeds[0].Card || v.Speeds[0].Kernels != 1 || v.Speeds[0].Inducing != 16 || v.Speeds[0].Bound ||
		v.Speeds[1].Card != r.Speeds[1].Card || !v.Speeds[1].Bound {
		t.Errorf("kept: %+v", v)
	}
	for _, want := range []string{"fake card 0", "FP64 at 1/64", "at 1/64 of its single",
		"The CPU is faster at a with 1 kernel, the bound of a with 1 kernel",
		"speed: c with SE;LIN;PER is left out: ", "a stop: c with SE;LIN;PER is left out: ", "out of memory", "heard within: a SE",
		"speed: the bound of d with SE;LIN;PER is left out: ",
		"all has ended within: a with SE ", "the bound of a with SE "} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	const jitter = "relative * (block_sum(s) / n)"
	r, _, v, kept = c.check(fake.Options{Bend: [3]string{"kestrel.cu", jitter, jitter + " * 1.001"}}, nil)
	if r.Wrong == "" || r.MayPass || len(r.Speeds) != 0 || !kept || v.Passed || v.Reason != r.Wrong || !v.Whole {
		t.Errorf("%+v\nkept: %+v", r, v)
	}
	t.Run("failing", c.failing)
}

// failing checks a card that is lost, or does not answer, while steps are timed: it fails, and nothing
// more is asked of it; only that it does not answer would be so again.
func (c *checks) failing(t *testing.T) {
	c.t = t
	r, page, v, kept := c.check(fake.Options{}, func(part string) {
		if part == "speed" { // each opening of a card reads it anew
			t.Setenv("KESTREL_FAKE_FAIL_AT", "1")
		}
	})
	if r.Wrong == "" || !r.MayPass || len(r.Parts) != 5 || kept || !strings.Contains(page, "check it again") {
		t.Errorf("%+v\nkept: %+v", r, v)
	}
	const hangs = 3 * time.Second
	d, card := c.card(fake.Options{HangAt: 1, HangFor: hangs})
	c.plan.Within = 500 * time.Millisecond
	for _, part := range []struct {
		name string
		run  func(open func() (device.Device, error)) error
	}{
		{"speed", func(open func() (device.Device, error)) error {
			_, err := r.speeds(t.Context(), open, c.plan)
			return err
		}},
		{"a stop", func(open func() (device.Device, error)) error {
			_, err := r.waits(t.Context(), open, c.plan)
			return err
		}},
		{"a stopped run", func(open func() (device.Device, error)) error {
			_, err := r.stops(t.Context(), open, c.plan)
			return err
		}},
	} {
		at := time.Now()
		err := part.run(opening(card))
		if took := time.Since(at); !errors.Is(err, proving.ErrSilent) || took >= hangs {
			t.Errorf("%s: %v after %v", part.name, err, took)
		}
		if v, keep := proving.Judge(d, card, []proving.Part{{Name: part.name, Err: err}}); v.Passed || !keep {
			t.Errorf("%s: kept: %v: %+v", part.name, keep, v)
		}
		goroutines.End(t, part.name) // the driver is one for all tests, and what goes on would take the next launch that hangs
	}
}
