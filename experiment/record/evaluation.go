package record

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/noise"
)

// Evaluation is what was known after a round, in the space's order.
type Evaluation struct {
	Index      int          `json:"index"` // counted from 1
	Planned    int          `json:"planned"`
	Proportion float64      `json:"proportion"`
	RowsSeen   int          `json:"rows_seen"`
	Inducing   int          `json:"inducing,omitempty"` // inputs; 0 in the logs of older versions
	Objective  files.Number `json:"objective"`          // total ELBO
	Kernels    []Kernel     `json:"kernels"`

	Calibration *vbks.Calibration `json:"calibration,omitempty"` // of predictions after the last one planned
	Noise       *noise.Model      `json:"noise,omitempty"`       // how that of rows differs; nil: it is normal, equal in all
	Front       *vbks.Front       `json:"front,omitempty"`       // where a space that grows stands
}

// Kernel is one kernel in an evaluation.
type Kernel struct {
	ID     string      `json:"id"`
	Status vbks.Status `json:"status"`
	Reason string      `json:"reason,omitempty"`
	Fit    *Fit        `json:"fit,omitempty"`      // of live kernels
	Left   *Share      `json:"left_out,omitempty"` // of kernels that "auto" inducing inputs have left out
}

// Share is what is believed of a kernel that is not compared any more, from its gap
// of then.
type Share struct {
	Posterior files.Number `json:"posterior"`
	Bayes     files.Number `json:"bayes"`
	Point     *Point       `json:"point,omitempty"`   // as that of a Fit
	Windows   *Windows     `json:"windows,omitempty"` // likewise
}

// Windows is log evidence by windows of neighbours, nats of the standardised targets.
type Windows struct {
	Nats files.Number `json:"nats"` // with log p(θ)
	Low  files.Number `json:"low"`  // how far below and above that it may be
	High files.Number `json:"high"`
	Rows int          `json:"rows"` // that it was last computed from
}

// Fit holds a live kernel's numbers.
type Fit struct {
	Posterior files.Number   `json:"posterior"`
	Bayes     files.Number   `json:"bayes"`
	ELBO      files.Number   `json:"elbo"`                // nats, of the standardised targets
	Volume    files.Number   `json:"volume,omitempty"`    // log volume of its mode, where the belief adds it
	Prior     files.Number   `json:"log_prior,omitempty"` // over the grammar, where the space grows
	SE        files.Number   `json:"se"`
	Rank      int            `json:"rank"`
	Tied      bool           `json:"tied,omitempty"`
	Rows      int            `json:"elbo_rows,omitempty"` // that the ELBO was computed from; 0 in the logs of older versions
	Evidence  *Evidence      `json:"evidence,omitempty"`  // nil where the ELBO is an estimate
	Windows   *Windows       `json:"windows,omitempty"`   // what the belief takes in the place of ELBO; nil where it does not
	Apart     bool           `json:"apart,omitempty"`     // told apart from the leader at these hyperparameters, or by windows
	Point     *Point         `json:"point,omitempty"`     // nil where the errors of local ELBOs change nothing
	Source    string         `json:"source,omitempty"`
	Flags     []vbks.Flag    `json:"flags,omitempty"` // what its user should look at
	Params    []files.Number `json:"params"`          // in data units, as KernelInfo.Params
	SD        []files.Number `json:"sd,omitempty"`    // of their logarithms, under q(log θ)
	// Low and High are what each of Params lies between with 95 % of the belief, in data units, too, NaN of those
	// fixed; nil where no draws tell.
	Low  []files.Number `json:"low,omitempty"`
	High []files.Number `json:"high,omitempty"`
}

// Between is what hyperparameter i lies between with 95 % of the belief; ok is false where that is not known.
func (f *Fit) Between(i int) (low, high float64, ok bool) {
	if i >= len(f.Low) || i >= len(f.High) {
		return 0, 0, false
	}
	low, high = float64(f.Low[i]), float64(f.High[i])
	return low, high, low <= high
}

// Point is what is believed of the local ELBOs as they are, without their errors.
type Point struct {
	Posterior files.Number `json:"posterior"`
	Bayes     files.Number `json:"bayes"`
}

// LeftOut writes the share of q* that kernels which are left out for a reason have
// together, "" where none is.
func (e *Evaluation) LeftOut(reason string) string {
	share, some := 0.0, false
	for i := range e.Kernels {
		if k := &e.Kernels[i]; k.Left != nil && k.Reason == reason {
			share, some = share+float64(k.Left.Posterior), true
		}
	}
	switch {
	case !some:
		return ""
	case share < 5e-5:
		return "below 0.0001"
	}
	return fmt.Sprintf("%.4f", share)
}

// Plain returns q* and Bayes' rule without errors.
func (f *Fit) Plain() Point { return plain(f.Point, f.Posterior, f.Bayes) }

// Plain returns q* and Bayes' rule without errors.
func (s *Share) Plain() Point { return plain(s.Point, s.Posterior, s.Bayes) }

func plain(p *Point, posterior, bayes files.Number) Point {
	if p != nil {
		return *p
	}
	return Point{posterior, bayes}
}

// Evidence bounds the log evidence of all rows seen at a kernel's hyperparameters,
// nats of the standardised targets.
type Evidence struct {
	Lower files.Number `json:"lower"`
	Upper files.Number `json:"upper"`
}

// Leader returns the kernel ranked first, nil if none is live.
func (e *Evaluation) Leader() *Kernel {
	for i := range e.Kernels {
		if f := e.Kernels[i].Fit; f != nil && f.Rank == 1 {
			return &e.Kernels[i]
		}
	}
	return nil
}

// Failed counts the kernels that could not be computed.
func (e *Evaluation) Failed() (n int) {
	for i := range e.Kernels {
		if e.Kernels[i].Status == vbks.Failed {
			n++
		}
	}
	return n
}

// Below returns the ids of the live kernels that rank below the first k.
func (e *Evaluation) Below(k int) []string {
	var ids []string
	for i := range e.Kernels {
		if f := e.Kernels[i].Fit; f != nil && f.Rank > k {
			ids = append(ids, e.Kernels[i].ID)
		}
	}
	return ids
}

// Metric is how well a method predicts the test rows, in data units.
type Metric struct {
	Evaluation int           `json:"evaluation"`
	Proportion float64       `json:"proportion"`
	Seconds    files.Number  `json:"seconds"`
	Method     string        `json:"method"`  // "vbks": averaged; "vbks-s": the best kernel
	Kernels    int           `json:"kernels"` // averaged
	RMSE       files.Number  `json:"rmse"`
	MAE        files.Number  `json:"mae"`
	NLPD       files.Number  `json:"nlpd"`
	Coverage95 files.Number  `json:"coverage95"`
	TestRows   int           `json:"test_rows"`
	Coverage50 files.Number  `json:"coverage50"` // NaN in the logs of older versions, as Coverage80
	Coverage80 files.Number  `json:"coverage80"`
	CRPS       files.Number  `json:"crps"`            // NaN in the logs of older versions, as Interval
	Interval   files.Number  `json:"interval_score"`  // of the central 95 %
	SMAPE      *files.Number `json:"smape,omitempty"` // percent; nil but for series on a regular grid, see Baselines.Scale
}

// UnmarshalJSON implements json.Unmarshaler: a share or score that is not there is
// not known; one that is not finite, which JSON has no number for, is +∞, as of a
// target whose density is 0.
func (m *Metric) UnmarshalJSON(text []byte) error {
	type plain Metric
	nan := files.Number(math.NaN())
	p := plain{Coverage50: nan, Coverage80: nan, Coverage95: nan, CRPS: nan, Interval: nan}
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	for _, score := range []*files.Number{&p.RMSE, &p.MAE, &p.NLPD} {
		if math.IsNaN(float64(*score)) {
			*score = files.Number(math.Inf(1))
		}
	}
	*m = Metric(p)
	return nil
}

// AccuracyCells are the cells of rundir.AccuracyColumns, empty where a share or a
// score is not known.
func (m *Metric) AccuracyCells() []string {
	return []string{m.RMSE.String(), m.MAE.String(), m.NLPD.String(), m.Coverage95.Known(""), strconv.Itoa(m.TestRows),
		m.Coverage50.Known(""), m.Coverage80.Known(""), m.CRPS.Known(""), m.Interval.Known("")}
}
