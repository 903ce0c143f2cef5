//go:build linux || darwin

package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/record"
)

// BenchmarkFirstFrame is the time from the start of the program to its first
// frame.
func BenchmarkFirstFrame(b *testing.B) {
	for b.Loop() {
		p := start(b, "--seed 1")
		p.soon("the launcher", func() bool { return strings.Contains(p.output(), "experiments") })
		b.StopTimer()
		p.quit()
		b.StartTimer()
	}
}

// BenchmarkKey is the time from a key to its answer on the screen, while 144
// kernels optimise on all cores.
func BenchmarkKey(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "run")
	p := start(b, "run fig1c-authors --out "+dir)
	p.until("an evaluation", func() bool { return count(events(dir), record.EventEvaluation) >= 1 })
	var took []time.Duration
	for i := range b.N {
		time.Sleep(time.Duration(100+17*(i%7)) * time.Millisecond) // not in step with frames
		before := len(p.output())
		began := time.Now()
		if _, err := p.tty.WriteString("?"); err != nil {
			b.Fatal(err)
		}
		p.soon("an answer", func() bool { return len(p.output()) > before+300 })
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took[len(took)/2]), "ms/median")
	b.ReportMetric(ms(took[len(took)*95/100]), "ms/p95")
	b.ReportMetric(ms(took[len(took)-1]), "ms/max")
	if b.N%2 == 1 { // help is open
		p.keys("?")
	}
	p.quit()
}

// soon is until for measurements: it looks often.
func (p *terminal) soon(what string, so func() bool) {
	p.t.Helper()
	for began := time.Now(); !so(); time.Sleep(200 * time.Microsecond) {
		if time.Since(began) > patience {
			p.t.Fatalf("waited in vain for %s", what)
		}
	}
}
