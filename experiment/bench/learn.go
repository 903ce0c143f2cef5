package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/inducing"
	"example.com/kestrel/vbks/periods"
)

// LearnCase is what a Learning traces: one kernel on a config's data.
type LearnCase struct {
	Config  config.Config
	Kernel  string   // an expression
	Steps   []string // adam, theta
	Rates   []float64
	Seconds float64 // of steps, for each
	Threads int
	Device  string
}

// learnRows is how many rows the local ELBO is followed on; they stand for all.
const learnRows = 4000

// LearnPoint is the local ELBO after some steps.
type LearnPoint struct {
	Step    string       `json:"step"`
	Rate    float64      `json:"rate"`
	Steps   int          `json:"steps"`
	Seconds float64      `json:"seconds"`
	ELBO    files.Number `json:"elbo_per_row"`
}

// learnStart is where all programs begin, for others to read.
type learnStart struct {
	Kernel     string            `json:"kernel"`
	Parameters []learnParameter  `json:"parameters"`
	Noise      float64           `json:"noise"`
	Batch      int               `json:"batch"`
	Jitter     float64           `json:"jitter"`
	Rows       int               `json:"elbo_rows"`
	ELBO       files.Number      `json:"elbo_per_row"`
	Files      map[string]string `json:"files"`
	Versions   record.Build      `json:"versions"`
}

type learnParameter struct {
	Leaf  int     `json:"leaf"`
	Base  string  `json:"base"`
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Free  bool    `json:"free"`
}

// Learning is a LearnCase made ready.
type Learning struct {
	c       LearnCase
	dev     device.Device
	setup   vbks.StepSetup // but for the kind of step and its rate
	rows    int            // that the local ELBO is followed on
	program *kernelspace.Program
}

// PrepareLearn loads the data of a case and decides where it begins: at q(v) =
// p(v) and a start that needs no search, the strongest period of the data for
// periodic leaves, 1 for their length scales, a tenth of the inputs' standard
// deviation for others, noise a tenth of y's variance. Its errors are the user's
// to mend. Close must be called.
func PrepareLearn(ctx context.Context, c LearnCase) (*Learning, error) {
	d, scaler, err := prepare.LoadData(ctx, &c.Config)
	if err != nil {
		return nil, err
	}
	if d.Dim != 1 {
		return nil, fmt.Errorf("the data have %d input columns; --learn wants one", d.Dim)
	}
	e, err := kernelspace.Parse(c.Kernel)
	if err != nil {
		return nil, err
	}
	p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
	if err != nil {
		return nil, err
	}
	x, y := scaler.X(d, d.Train), scaler.Y(d, d.Train)
	set := c.Config.Settings
	if set.Batch >= len(y) {
		return nil, fmt.Errorf("schedule.batch = %d is not less than the %d training rows; --learn wants minibatches", set.Batch, len(y))
	}
	z, _, err := inducing.Place(x, 1, set.Inducing, set.Placement, set.Seed)
	if err != nil {
		return nil, err
	}
	m := len(z)
	l := &Learning{c: c, program: p, rows: min(learnRows, len(y)), setup: vbks.StepSetup{
		Programs: []*kernelspace.Program{p}, Theta: [][]float64{learnTheta(p, x, y, set.Seed)}, Noise: 0.1,
		X: x, Y: y, Dim: 1, Z: z, Mean: make([]float64, m), Chol: make([]float64, m*m), Unseen: true,
		Batch: set.Batch, Jitter: device.Jitter{Absolute: 1e-6}, Seed: set.Seed,
	}}
	for i := range m {
		l.setup.Chol[i*m+i] = 1
	}
	l.dev, err = prepare.OpenDevice(config.DeviceChoice{Kind: c.Device, Lanes: c.Threads})
	return l, err
}

// Close gives the device back.
func (l *Learning) Close() error { return l.dev.Close() }

// Run follows the local ELBO of the kernel over the seconds that its steps take,
// for each step and rate of the case. Evaluations do not count as time. Before
// the first step it writes to dir what another program needs to do the same:
// start.json, rows.csv (x, y in units of their standard deviations) and
// inducing.csv.
func (l *Learning) Run(ctx context.Context, dir string, each func(LearnPoint) error) error {
	written := false
	for _, step := range l.c.Steps {
		for _, rate := range l.c.Rates {
			err := l.trace(ctx, step, rate, func(p LearnPoint) error {
				if !written {
					written = true
					if err := l.write(dir, p.ELBO); err != nil {
						return err
					}
				}
				return each(p)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// learnTheta is the start that PrepareLearn names.
func learnTheta(p *kernelspace.Program, x, y []float64, seed uint64) []float64 {
	period := 1.0
	if peaks := periods.Find(x, y, periods.Options{Seed: seed}); len(peaks) > 0 {
		period = peaks[0].Period
	}
	theta := make([]float64, len(p.Params))
	for i, q := range p.Params {
		theta[i] = 1
		if !q.Free {
			continue
		}
		switch {
		case q.Name == "variance":
			theta[i] = 0.5
		case q.Name == "period":
			theta[i] = period
		case q.Name == "lengthscale" && q.Base != "PER":
			theta[i] = 0.1
		}
	}
	return theta
}

// trace runs the steps of one optimiser and reports the local ELBO per row at
// the start and after numbers of steps that grow by a fifth.
func (l *Learning) trace(ctx context.Context, step string, rate float64, each func(LearnPoint) error) error {
	setup := l.setup
	setup.Kind, setup.Rate = stepKind(step), rate
	b, err := vbks.NewStepBench(l.dev, setup)
	if err != nil {
		return err
	}
	defer b.Close()
	at := LearnPoint{Step: step, Rate: rate}
	for {
		v, err := b.ELBO(l.rows)
		if err != nil {
			return err
		}
		at.ELBO = files.Number(v / float64(len(setup.Y)))
		if err := each(at); err != nil {
			return err
		}
		if at.Seconds >= l.c.Seconds || math.IsNaN(v) {
			return nil
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		more := max(1, at.Steps/5)
		began := time.Now()
		if err := b.Steps(more); err != nil {
			return err
		}
		at.Seconds += time.Since(began).Seconds()
		at.Steps += more
	}
}

// write writes what another program needs to begin at the same place, with the
// local ELBO per row that it should find there.
func (l *Learning) write(dir string, elbo files.Number) error {
	s := &l.setup
	start := learnStart{Kernel: l.c.Kernel, Noise: s.Noise, Batch: s.Batch, Jitter: s.Jitter.Absolute, Rows: l.rows, ELBO: elbo,
		Versions: record.ReadBuild(),
		Files:    map[string]string{"rows": "rows.csv", "inducing": "inducing.csv"}}
	for i, q := range l.program.Params {
		start.Parameters = append(start.Parameters, learnParameter{q.Leaf, q.Base, q.Name, s.Theta[0][i], q.Free})
	}
	text, err := json.MarshalIndent(&start, "", "  ")
	if err != nil {
		return fmt.Errorf("start.json: %w", err)
	}
	return output.WriteFiles(dir, []files.File{
		{Name: "rows.csv", Text: learnColumns("x,y", s.X, s.Y)},
		{Name: "inducing.csv", Text: learnColumns("x", s.Z)},
		{Name: "start.json", Text: append(text, '\n')},
	})
}

// learnColumns is a table of numbers in full precision.
func learnColumns(header string, values ...[]float64) []byte {
	text := []byte(header + "\n")
	for i := range values[0] {
		for j, v := range values {
			if j > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendFloat(text, v[i], 'g', -1, 64)
		}
		text = append(text, '\n')
	}
	return text
}
