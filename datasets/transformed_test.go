package datasets

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/datasets/transform"
	"example.com/kestrel/internal/must"
)

// tableOf writes a table of x and y.
func tableOf(t *testing.T, y ...any) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,sold\n")
	for i, v := range y {
		fmt.Fprintf(&b, "%d,%v\n", i, v)
	}
	path := filepath.Join(t.TempDir(), "sales.csv")
	must.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
	return path
}

func scaled(t *testing.T, s Spec) (*Dataset, *Scaler, error) {
	t.Helper()
	s.StandardiseX, s.StandardiseY, s.SplitBy = "full", "full", "rows"
	d, err := Load(t.Context(), s)
	must.OK(t, err)
	scaler, err := NewScaler(d, s)
	return d, scaler, err
}

// Standardising the transformed targets is standardising a table of them.
func TestTransformIsThatOfTheTable(t *testing.T) {
	y := []any{3, 8, 1.5, 40, 22, 7}
	var logs []any
	for _, v := range y {
		f, ok := v.(float64)
		if !ok {
			f = float64(v.(int))
		}
		logs = append(logs, math.Log(f))
	}
	d, s, err := scaled(t, Spec{Path: tableOf(t, y...), TestRows: 2, Transform: "log"})
	must.OK(t, err)
	e, of, err := scaled(t, Spec{Path: tableOf(t, logs...), TestRows: 2})
	must.OK(t, err)
	if s.YShift != of.YShift || s.YScale != of.YScale || s.XShift[0] != of.XShift[0] {
		t.Errorf("%+v, of the logarithms %+v", s, of)
	}
	for r := range d.Y {
		z := s.Target(d.Y[r])
		if z != of.Target(e.Y[r]) {
			t.Errorf("row %d: %v, of the logarithms %v", r, z, of.Target(e.Y[r]))
		}
		if back := s.Value(z); math.Abs(back/d.Y[r]-1) > 1e-14 {
			t.Errorf("%v comes back as %v", d.Y[r], back)
		}
	}
	// p(y) = p̃(ỹ) dỹ/dy, by differences.
	if got, want := math.Exp(s.LogSlope(5)), (s.Target(5.001)-s.Target(4.999))/0.002; math.Abs(got/want-1) > 1e-6 {
		t.Errorf("slope %v, by differences %v", got, want)
	}
	m, v := s.Moments(0.3, 0.5)
	mu, variance := s.YShift+0.3*s.YScale, 0.5*s.YScale*s.YScale
	if want := math.Exp(mu + variance/2); math.Abs(m/want-1) > 1e-14 || math.Abs(v/(want*want*(math.Exp(variance)-1))-1) > 1e-12 {
		t.Errorf("moments %v, %v", m, v)
	}
	if scale, linear := s.Linear(); linear || scale != s.YScale {
		t.Error("log is linear")
	}
}

func TestTransformRefuses(t *testing.T) {
	for _, c := range []struct {
		how    string
		bounds []float64
		want   string
	}{
		{"log", nil, `sales.csv: row 3: the target "sold" is 0; data.transform = "log" takes values above 0; ` +
			`add a constant to the column, or set data.transform = "none"`},
		{"boxcox", nil, `sales.csv: row 3: the target "sold" is 0; data.transform = "boxcox" takes values above 0; ` +
			`add a constant to the column, or set data.transform = "none"`},
		{"logit", []float64{0, 100}, `sales.csv: row 3: the target "sold" is 0; data.transform = "logit" takes values between 0 and 100; ` +
			`set data.transform_bounds, or data.transform = "none"`},
	} {
		// The second row has no target: rows are counted as in the file.
		_, _, err := scaled(t, Spec{Path: tableOf(t, 4, "NA", 0, 12, -1, 5), Transform: c.how, TransformBounds: c.bounds})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.how, err, c.want)
		}
	}
	if _, _, err := scaled(t, Spec{Path: tableOf(t, 4, 5, 6), Transform: "logit", TransformBounds: []float64{3, 1}}); err == nil {
		t.Error("bounds from 3 to 1")
	}
	if _, err := Load(t.Context(), Spec{Path: "x", Transform: "loge"}); err == nil ||
		err.Error() != `transform = "loge": allowed are "none", "log", "boxcox", "logit", "auto"; did you mean "log"?` {
		t.Error(err)
	}
	if _, _, err := scaled(t, Spec{Path: tableOf(t, 1e139, 1.1e139, 2e139), Transform: "boxcox"}); err != nil {
		t.Error(err) // some λ can be computed with
	}
	if _, _, err := scaled(t, Spec{Source: "synthetic", Kernel: "SE", Outputs: 50, Transform: "log"}); err == nil ||
		!strings.Contains(err.Error(), `the target "y" is -`) {
		t.Error(err)
	}
}

// Test rows that cannot be transformed are noted, not refused.
func TestTestRowsThatCannotBeTransformed(t *testing.T) {
	d, s, err := scaled(t, Spec{Path: tableOf(t, 4, "NA", 3, 12, -1, 5, 0), TestRows: 3, Transform: "log"})
	must.OK(t, err)
	want := `2 of 3 test rows cannot be transformed, the first being row 5, -1: data.transform = "log" takes values above 0; nlpd is infinite`
	if len(s.Notices) != 1 || s.Notices[0] != want {
		t.Errorf("%q, want %s", s.Notices, want)
	}
	if y := s.Y(d, d.Test); !math.IsInf(y[0], -1) || !math.IsInf(y[2], -1) || math.IsInf(y[1], 0) {
		t.Errorf("%v", y)
	}
}

// λ is in the notices, the summary and the JSON; a Scaler of before reads as none.
func TestTransformIsTold(t *testing.T) {
	var y []any
	for i := range 60 {
		y = append(y, math.Exp(0.1*float64(i)+math.Sin(float64(i))))
	}
	d, s, err := scaled(t, Spec{Path: tableOf(t, y...), TestRows: 6, Transform: "boxcox"})
	must.OK(t, err)
	note := fmt.Sprintf("λ = %v, the likeliest for the 54 training rows", s.Transform.Lambda)
	if len(s.Notices) != 1 || !strings.Contains(s.Notices[0], note) {
		t.Errorf("%q", s.Notices)
	}
	summary := Describe(d, s)
	c := &summary.Columns[1]
	if c.Transform != s.Transform || summary.Columns[0].Transform.Name != "" || c.ModelledUnit() != s.Transform.Unit("") ||
		c.OfModelled() != " of "+s.Transform.Of("sold") {
		t.Errorf("%+v", summary.Columns)
	}
	var b strings.Builder
	must.OK(t, summary.WriteText(&b))
	if !strings.Contains(b.String(), "standardised: inputs full, target full, of "+s.Transform.Of("sold")) {
		t.Errorf("%s", b.String())
	}
	text, err := json.Marshal(s)
	must.OK(t, err)
	var again Scaler
	must.OK(t, json.Unmarshal(text, &again))
	if again.Transform != s.Transform {
		t.Errorf("%s", text)
	}
	plain := &Scaler{YShift: 2, YScale: 3}
	if text, err = json.Marshal(plain); err != nil || strings.Contains(string(text), "transform") {
		t.Errorf("%s, %v", text, err)
	}
	var old Scaler
	must.OK(t, json.Unmarshal([]byte(`{"y_shift": 2, "y_scale": 3}`), &old))
	if scale, linear := old.Linear(); !linear || scale != 3 || old.Target(8) != 2 || old.Transform != (transform.Transform{}) {
		t.Errorf("%+v", old)
	}
}
