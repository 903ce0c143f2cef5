//go:build cuda

package bench

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/device/cuda/proving"
	"example.com/kestrel/internal/must"
)

// The check of a fake card comes to a page, and its figures are kept for the choice of a device; of
// a card that is wrong the page and what is kept say so, without figures.
func TestCheckCard(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++, which the fake card's kernels are compiled with")
	}
	dir := t.TempDir()
	must.OK(t, fake.Build(dir))
	include, err := filepath.Abs("../../device/cuda/source")
	must.OK(t, err)
	p := wholeCardPlan()
	p.Space, p.Steps.Count, p.Sides, p.Forms = "K12", 2, [2]int{8, 8}, []string{"SE[2]"}
	p.Suite = func(part string) bool { return part == "Jitter" }
	p.works, p.seconds = []cardWork{{"a", "SE"}}, 0.01
	check := func(o fake.Options) (*CardReport, proving.Verdict) {
		o.Include, o.Memory = include, 64<<20
		fake.Use(t, dir, o)
		t.Setenv("KESTREL_FAKE_CXXFLAGS", "-O1 -ffp-contract=off")
		d, err := driver.Open()
		must.OK(t, err)
		r, err := checkCard(t.Context(), d, d.Cards()[0], p, nil)
		must.OK(t, err)
		v, ok := proving.Kept(d, d.Cards()[0])
		if !ok {
			t.Fatal("nothing is kept")
		}
		return r, v
	}
	r, v := check(fake.Options{Ratio: 64})
	var page strings.Builder
	must.OK(t, r.WriteText(&page))
	t.Log(page.String())
	if r.Wrong != "" || len(r.Parts) != 6 || len(r.Speeds) != 1 || !(r.Speeds[0].Card > 0 && r.Speeds[0].CPU > 0 && *r.Speeds[0].Share > 0) {
		t.Errorf("%+v", r)
	}
	if !v.Passed || !v.Whole || len(v.Speeds) != 1 ||
		v.Speeds[0].Card != r.Speeds[0].Card || v.Speeds[0].Kernels != 1 || v.Speeds[0].Inducing != 16 {
		t.Errorf("kept: %+v", v)
	}
	for _, want := range []string{"fake card 0", "FP64 at 1/64", "at 1/64 of its single", "The CPU is faster at a with 1 kernels"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in\n%s", want, page.String())
		}
	}
	r, v = check(fake.Options{Bend: [3]string{"kestrel.cu", "relative * (block_sum(s) / n)", "relative * (block_sum(s) / n) * 1.001"}})
	if r.Wrong == "" || len(r.Speeds) != 0 || v.Passed || v.Reason != r.Wrong || !v.Whole {
		t.Errorf("%+v\nkept: %+v", r, v)
	}
}
