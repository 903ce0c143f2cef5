package bench

import (
	"strings"
	"testing"
	"time"

	"example.com/kestrel/internal/must"
)

// The page says what was found, and what is wrong where something is.
func TestCardPage(t *testing.T) {
	share := 0.25
	r := CardReport{
		Program: "kestrel 1", Card: "card 0 (X)", Details: "X, compute capability 9.0", CPU: "two cores", Peak: 1000,
		Parts: []CardPart{{Name: "bits", Found: "equal", Seconds: 3}, {Name: "suite", Found: "30 parts", Seconds: 20}},
		Speeds: []CardSpeed{{Work: "a", Step: "adam", Kernels: 144, M: 16, B: 32, Card: 0.5, CPU: 2, GFLOPS: 250, Share: &share},
			{Work: "d", Step: "bound", Kernels: 12, M: 500, N: 500, Card: 3, CPU: 2, GFLOPS: 7}},
		Notices: []string{"It is slow."},
	}
	page := func() string {
		var s strings.Builder
		must.OK(t, r.WriteText(&s))
		return s.String()
	}
	text := page()
	for _, want := range []string{"card 0 (X)", "good   bits, 3 s: equal", "adam,  a, 144 kernels, M= 16, B=  32", "4.00x", "25.0 %",
		"bound, d,  12 kernels, M=500, N= 500", "0.667x", "1000 GFLOPS",
		"It is slow.", "The card computes what it should."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if lines := strings.Count(text, "\n"); lines > 60 {
		t.Errorf("%d lines are no page", lines)
	}
	r.Parts[1] = CardPart{Name: "suite", Wrong: "Gemm: 1\nSolve: 2", Seconds: 20}
	r.Wrong = "suite: Gemm: 1"
	if text := page(); !strings.Contains(text, "WRONG  suite, 20 s: Gemm: 1\n         Solve: 2") ||
		!strings.Contains(text, "must not be used: suite: Gemm: 1") || strings.Contains(text, "what it should.") {
		t.Error(text)
	}
	r.MayPass = true
	if text := page(); !strings.Contains(text, "has not passed: suite: Gemm: 1") || !strings.Contains(text, "check it again") ||
		strings.Contains(text, "must not be used") {
		t.Error(text)
	}
}

// A stop must be heard within 100 ms, or two steps where a step is longer.
func TestLateWaits(t *testing.T) {
	for _, c := range []struct {
		longest, step time.Duration
		late          bool
	}{{90 * time.Millisecond, time.Millisecond, false}, {110 * time.Millisecond, time.Millisecond, true},
		{590 * time.Millisecond, 300 * time.Millisecond, false}, {700 * time.Millisecond, 300 * time.Millisecond, true}} {
		if got := (Waits{c.longest, c.step}).late(mostUnheard); (got != "") != c.late {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
