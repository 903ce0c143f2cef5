package backtest

import (
	"fmt"
	"math"

	"example.com/kestrel/baseline"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
)

// verdict says in one sentence how kestrel's forecasts compare: with the naive one and
// with the baseline of the least CRPS, of those that have forecast most series.
func (r *Result) verdict() string {
	own := &r.Methods[0]
	if own.Series == 0 {
		return "kestrel: no forecast"
	}
	text := "kestrel: "
	if worth := worth(r.Methods, r.reference(), r.Naive()); worth != "" {
		text += worth + "; "
	}
	text += fmt.Sprintf("95 %% intervals hold %.0f %%", 100*float64(own.Coverage95))
	if n := r.without(); n > 0 {
		text += fmt.Sprintf("; %s without a forecast of kestrel", words.Count(n, "origin"))
	}
	return text
}

// best returns the place of the baseline of the least CRPS, of those that have forecast
// most of kestrel's series, −1 if none has, and how many have forecast.
func best(methods []Scores) (at, had int) {
	at = -1
	for m := range methods {
		s := &methods[m]
		if m == 0 || math.IsNaN(float64(s.KestrelRelative)) {
			continue
		}
		had++
		if at < 0 || s.Compared > methods[at].Compared ||
			s.Compared == methods[at].Compared && s.KestrelRelative > methods[at].KestrelRelative {
			at = m
		}
	}
	return at, had
}

// worth compares kestrel's CRPS, the first of the methods, with the reference and the
// best baseline, "" where there is nothing to compare with.
func worth(methods []Scores, reference, label string) string {
	at, had := best(methods)
	if at < 0 {
		return ""
	}
	top := record.Rival{Label: labelOf(methods[at].Method), Own: float64(methods[at].KestrelRelative), Other: 1}
	first := top
	if q := float64(methods[0].Relative); !math.IsNaN(q) {
		first = record.Rival{Label: label, Own: q, Other: 1}
		if methods[at].Method == reference {
			top.Label = label
		}
	}
	return record.Worth(first, top, had, record.NoForecast)
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
