package finding_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// Of noise a run finds nothing, of a wave its period within 2 %, and both are the first
// words of its summary.
func TestRunsFindWhatThereIs(t *testing.T) {
	for _, c := range []struct {
		what   string
		signal func(x float64) float64
		want   string
	}{
		{"noise", func(float64) float64 { return 5 }, "Nothing beyond a constant and noise"},
		{"a wave of period 12", func(x float64) float64 { return 3 * math.Sin(2*math.Pi*x/12) }, "A pattern that repeats every "},
	} {
		rng := rand.New(rand.NewPCG(5, 11))
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range 90 {
			fmt.Fprintf(&b, "%d,%.5f\n", i, c.signal(float64(i))+0.5*rng.NormFloat64())
		}
		path := filepath.Join(t.TempDir(), "data.csv")
		must.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
		_, _, dir := runtest.Finished(t, configtest.Plane(t, path, "kernels.expressions=SE, PER, LIN", "data.test=10",
			`data.inputs=["x"]`, "data.target=y"))
		s, err := history.ReadSummary(dir)
		must.OK(t, err)
		if !strings.HasPrefix(s.Finding, c.want) {
			t.Errorf("%s: %s", c.what, s.Finding)
		}
		period := 0.0
		if _, err := fmt.Sscanf(s.Finding, "A pattern that repeats every %g", &period); err == nil && math.Abs(period-12) > 0.25 {
			t.Errorf("%s: a period of %g", c.what, period)
		}
	}
}
