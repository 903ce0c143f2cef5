package modelfile

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/local"
	"example.com/kestrel/vbks/noise"
)

// formatVersion is that of the file. It is raised when older programs would read a
// newer file wrongly: 2 where kernels have inducing inputs of their own or neighbours predict,
// 3 where the noise of rows differs, 4 where neighbours are those of a table, else 1.
const plainVersion, ownVersion, noiseVersion, formatVersion = 1, 2, 3, 4

// What About.Root may be.
const (
	rootPrecision  = "precision"
	rootCovariance = "covariance"
)

// About is the text of a model file: all but the large numbers. Fields are only added;
// docs/format.md has them all.
type About struct {
	Build      record.Build `json:"build"` // that wrote it
	Name       string       `json:"name"`  // of the run
	Evaluation int          `json:"evaluation"`
	Data       Data         `json:"data"`
	Weights    string       `json:"weights"` // posterior, bayes, tempered, loo or origins: of the average, if nothing else is asked for
	Top        int          `json:"top"`     // kernels averaged, the highest-ranked ones; 0: all

	Reading  Reading            `json:"reading"`
	Columns  *datasets.Template `json:"columns"`
	Scaler   *datasets.Scaler   `json:"scaler"`
	Jitter   Jitter             `json:"jitter"`
	Root     string             `json:"root"`      // precision: of S⁻¹ = FFᵀ; covariance: of S = CCᵀ
	HasRows  bool               `json:"has_rows"`  // the training rows are in the file
	Averaged float64            `json:"averaged"`  // weight from which on a kernel is averaged over its hyperparameters
	Least    float64            `json:"least"`     // weight below which a kernel is left out of an average
	Temper   float64            `json:"tempering"` // nats by which weights of "tempered" fall to 1/e

	ARD          bool     `json:"ard"`            // length scales per column where an expression does not say
	SharedPeriod bool     `json:"shared_period"`  // one period for all columns of a leaf
	Line         []int    `json:"line,omitempty"` // inputs, from 0, of a linear mean function; its two leaves follow those of every expression
	Kernels      []Kernel `json:"kernels"`        // by rank

	Calibration *vbks.Calibration `json:"calibration,omitempty"` // of standard deviations; nil: none
	Neighbours  *local.Part       `json:"neighbours,omitempty"`  // that predict rows among those known; nil: none
	Noise       *noise.Model      `json:"noise,omitempty"`       // how that of rows differs; nil: it is normal, equal in all
}

// Data says of the data what predictions do not need.
type Data struct {
	Name          string   `json:"name"`
	SHA256        string   `json:"sha256"`
	RowsRead      int      `json:"rows_read"`
	Train         int      `json:"train"`
	Test          int      `json:"test"` // held out
	SplitBy       string   `json:"split_by,omitempty"`
	DroppedTarget int      `json:"dropped_target"`
	DroppedInputs int      `json:"dropped_inputs"`
	Learned       int      `json:"learned"`           // rows that the kernels have learned from
	HeldOut       bool     `json:"held_out"`          // held-out rows are not among them
	Notices       []string `json:"notices,omitempty"` // how the table was read, which columns are no inputs
}

// Reading is how the run's table is written where its config says so.
type Reading struct {
	Header    string   `json:"header,omitempty"`
	Delimiter string   `json:"delimiter,omitempty"`
	Decimal   string   `json:"decimal,omitempty"`
	Missing   []string `json:"missing,omitempty"`
}

// Spec is the reading as a source of points has it.
func (r Reading) Spec() datasets.Spec {
	return datasets.Spec{Header: r.Header, Delimiter: r.Delimiter, Decimal: r.Decimal, Missing: r.Missing}
}

// Jitter is what is added to the diagonal of k(Z,Z): relative times its mean, and
// absolute; both times the kernel's factor.
type Jitter struct {
	Relative float64 `json:"relative"`
	Absolute float64 `json:"absolute"`
}

// Kernel is a kernel of the model.
type Kernel struct {
	ID        string             `json:"id"`
	Name      string             `json:"name,omitempty"` // for reading
	Rank      int                `json:"rank"`
	Posterior float64            `json:"posterior"`
	Bayes     float64            `json:"bayes"`
	Worth     float64            `json:"worth"`             // nats: local ELBO, with the volume of the mode where that counts
	LOO       float64            `json:"loo"`               // weight of "loo"; 0 of all kernels where it is not known
	Origins   float64            `json:"origins,omitempty"` // weight of "origins", likewise
	Factor    float64            `json:"jitter_factor"`
	Params    []record.ParamInfo `json:"params,omitempty"` // of theta's columns and the noise: names, and how they scale to the data's units
	Program   []Step             `json:"program"`          // for other programs, which need not read the expression
}

// Step is an instruction of a kernel in postfix form: a leaf, whose parameters begin at
// theta[at], or what combines the last ones.
type Step struct {
	Do      string    `json:"do"` // a base kernel's name, or "levels", "step"; "+", "*" of the last count ones; "change" of the last three
	At      int       `json:"at,omitempty"`
	Columns []int     `json:"columns,omitempty"` // from 0
	Scales  int       `json:"scales,omitempty"`  // number of length scales
	Periods int       `json:"periods,omitempty"` // number of periods
	Degree  int       `json:"degree,omitempty"`
	Levels  []float64 `json:"levels,omitempty"` // standardised values of the column that have a length each, ascending
	Count   int       `json:"count,omitempty"`
}

// ascend reports whether levels are in order, as they are looked up by it.
func (k *Kernel) ascend() bool {
	return !slices.ContainsFunc(k.Program, func(s Step) bool {
		for i := 1; i < len(s.Levels); i++ {
			if s.Levels[i] <= s.Levels[i-1] {
				return true
			}
		}
		return false
	})
}

// levels are those of an input that have a length each in the kernel; nil where it says none.
func (k *Kernel) levels(column int) []float64 {
	for _, s := range k.Program {
		if len(s.Columns) == 1 && s.Columns[0] == column && len(s.Levels) > 0 {
			return s.Levels
		}
	}
	return nil
}

// steps are a program's instructions.
func steps(p *kernelspace.Program) []Step {
	var out []Step
	for i := range p.Instrs {
		in := &p.Instrs[i]
		switch in.Op {
		case kernelspace.OpAdd:
			out = append(out, Step{Do: "+", Count: in.Arity})
		case kernelspace.OpMul:
			out = append(out, Step{Do: "*", Count: in.Arity})
		case kernelspace.OpChange:
			out = append(out, Step{Do: "change", Count: in.Arity})
		case kernelspace.OpStep:
			out = append(out, Step{Do: "step", At: in.Off, Columns: in.Cols})
		case kernelspace.OpLevels:
			out = append(out, Step{Do: "levels", At: in.Off, Columns: in.Cols, Scales: in.NumScale, Levels: in.Levels})
		default:
			out = append(out, Step{Do: p.Params[in.Off].Base, At: in.Off, Columns: in.Cols, Scales: in.NumScale, Periods: in.NumPeriod,
				Degree: in.Degree})
		}
	}
	return out
}

// check returns an error for what no model has, before any array is looked at.
func (a *About) check() error {
	finite := func(values ...float64) bool {
		return !slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	}
	switch {
	case a.Columns == nil || a.Scaler == nil:
		return errors.New("it does not say how columns are scaled")
	case a.Root != rootPrecision && a.Root != rootCovariance:
		return fmt.Errorf("its q(v) has the unknown form %q", a.Root)
	case !slices.Contains(vbks.WeightNames(), a.Weights) || a.Top < 0:
		return fmt.Errorf("its kernels have the unknown weights %q", a.Weights)
	}
	s, dim := a.Scaler, len(a.Columns.Inputs)
	if len(s.XShift) != dim || len(s.XScale) != dim || !finite(s.XShift...) || !finite(s.XScale...) || slices.Contains(s.XScale, 0) ||
		!finite(s.YShift, s.YScale, s.Transform.Lambda, s.Transform.Low, s.Transform.High) || s.YScale <= 0 {
		return fmt.Errorf("its %d inputs and its target are not scaled", dim)
	}
	return s.Transform.Check()
}
