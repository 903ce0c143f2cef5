package report

import (
	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/figures"
	"example.com/kestrel/experiment/history"
)

// shownInTraces is the number of kernels that have a colour in the traces.
const shownInTraces = 8

// traces draws the course of a run: what can be drawn of it.
func (r *reporter) traces() {
	h := r.history
	type trace struct {
		figure  *chart.Figure
		caption string
	}
	charts := []trace{
		{figures.History(h, nil, history.QuantityPosterior, history.AxisData, shownInTraces, false),
			"The belief in each kernel, q*, against the proportion of the data used. The rest is grey."},
		{figures.History(h, nil, history.QuantityGap, history.AxisData, shownInTraces, true),
			"Local ELBO, with the volume of its mode, behind that of the leader, in nats, on a logarithmic axis, " +
				"where the leader’s own 0 has no place."},
	}
	if h.Methods() > 0 {
		charts = append(charts, trace{figures.Metrics(h, history.QuantityRMSE, history.AxisSeconds),
			"Error on the rows held out against the time of work."})
	}
	for _, c := range charts {
		c.figure.Title, c.figure.Width, c.figure.Height = "", figures.ReportWidth, figures.ReportHeight
		// One that has nothing to draw, such as the gaps of a single kernel, is
		// left out.
		if f, err := figures.ForPage(c.figure, c.caption); err == nil {
			r.page.Traces = append(r.page.Traces, *f)
		}
	}
}
