package backtest

import (
	"fmt"
	"math"
	"strings"

	"kestrel/baseline"
	"kestrel/experiment/words"
)

// verdict says in one sentence how kestrel's forecasts compare: with the baseline of
// the least CRPS, of those that have forecast most series, and with the naive one.
func (r *Result) verdict() string {
	own := &r.Methods[0]
	if own.Series == 0 {
		return "kestrel: no forecast"
	}
	best, naive := -1, -1
	for m := range r.Methods {
		s := &r.Methods[m]
		if s.Method == r.reference() {
			naive = m
		}
		if m == 0 || math.IsNaN(float64(s.KestrelRelative)) {
			continue
		}
		if best < 0 || s.Compared > r.Methods[best].Compared ||
			s.Compared == r.Methods[best].Compared && s.KestrelRelative > r.Methods[best].KestrelRelative {
			best = m
		}
	}
	var parts []string
	if best >= 0 {
		name := r.Methods[best].Method
		parts = append(parts, fmt.Sprintf("CRPS %s the best baseline (%s)", comparedWith(float64(r.Methods[best].KestrelRelative)), name))
	}
	if naive >= 0 && naive != best && !math.IsNaN(float64(own.Relative)) {
		parts = append(parts, fmt.Sprintf("%s %s", comparedWith(float64(own.Relative)), r.Naive()))
	}
	text := "kestrel: " + strings.Join(append(parts, ""), ", ")
	text = strings.TrimSuffix(text, ", ") + fmt.Sprintf("; 95 %% intervals hold %.0f %%", 100*float64(own.Coverage95))
	if n := r.without(); n > 0 {
		text += fmt.Sprintf("; %s without a forecast of kestrel", words.Count(n, "origin"))
	}
	return text
}

// comparedWith says what a quotient of CRPS means.
func comparedWith(q float64) string {
	percent := math.Round(100 * (q - 1))
	switch {
	case percent < 0:
		return fmt.Sprintf("%.0f %% below", -percent)
	case percent > 0:
		return fmt.Sprintf("%.0f %% above", percent)
	}
	return "equal to"
}

// reference is the method that most series are compared with.
func (r *Result) reference() string {
	if r.seasonal > 0 {
		return "snaive"
	}
	return "naive"
}

// Naive names what CRPS is relative to.
func (r *Result) Naive() string {
	switch {
	case r.seasonal == 0:
		return "naive"
	case r.seasonal < r.Series:
		return "seasonal naive (naive where no season is known)"
	}
	return "seasonal naive"
}

// without counts the origins from which kestrel has no forecast.
func (r *Result) without() (n int) {
	for i := range r.rows {
		if row := &r.rows[i]; row.Method == Kestrel && row.Step == 1 && !row.forecast() {
			n++
		}
	}
	return n
}

// labelOf names a method for people.
func labelOf(method string) string {
	for _, m := range baseline.Forecasts() {
		if m.Name == method {
			return m.Label
		}
	}
	return method
}
