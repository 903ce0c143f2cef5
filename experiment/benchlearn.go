package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"kestrel/device"
	"kestrel/kernelspace"
	"kestrel/vbks"
)

// LearnCase is what BenchLearn traces: one kernel on a config's data.
type LearnCase struct {
	Config  Config
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
	Step    string  `json:"step"`
	Rate    float64 `json:"rate"`
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`
	ELBO    float64 `json:"elbo_per_row"`
}

// learnStart is where all programs begin, for others to read.
type learnStart struct {
	Kernel     string            `json:"kernel"`
	Parameters []learnParameter  `json:"parameters"`
	Noise      float64           `json:"noise"`
	Batch      int               `json:"batch"`
	Jitter     float64           `json:"jitter"`
	Rows       int               `json:"elbo_rows"`
	ELBO       float64           `json:"elbo_per_row"`
	Files      map[string]string `json:"files"`
	Versions   Build             `json:"versions"`
}

type learnParameter struct {
	Leaf  int     `json:"leaf"`
	Base  string  `json:"base"`
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Free  bool    `json:"free"`
}

// BenchLearn follows the local ELBO of one kernel over the seconds that its
// steps take, from q(v) = p(v) and a start that needs no search: the strongest
// period of the data for periodic leaves, 1 for their length scales, a tenth of
// the inputs' standard deviation for others, noise a tenth of y's variance.
// Evaluations do not count as time. It writes to dir what another program needs
// to do the same: start.json, rows.csv (x, y in units of their standard
// deviations) and inducing.csv.
func BenchLearn(ctx context.Context, c LearnCase, dir string, each func(LearnPoint) error) error {
	d, scaler, err := LoadData(ctx, &c.Config)
	if err != nil {
		return err
	}
	if d.Dim != 1 {
		return fmt.Errorf("the data have %d input columns; --learn wants one", d.Dim)
	}
	e, err := kernelspace.Parse(c.Kernel)
	if err != nil {
		return err
	}
	p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
	if err != nil {
		return err
	}
	x, y := scaler.X(d, d.Train), scaler.Y(d, d.Train)
	set := c.Config.Settings
	z, _, err := vbks.PlaceInducing(x, 1, set.Inducing, set.Placement, set.Seed)
	if err != nil {
		return err
	}
	const noise, jitter = 0.1, 1e-6
	theta := learnTheta(p, x, y, set.Seed)
	m := len(z)
	setup := vbks.StepSetup{
		Programs: []*kernelspace.Program{p}, Theta: [][]float64{theta}, Noise: noise,
		X: x, Y: y, Dim: 1, Z: z, Mean: make([]float64, m), Chol: make([]float64, m*m), Unseen: true,
		Batch: set.Batch, Jitter: device.Jitter{Absolute: jitter}, Seed: set.Seed,
	}
	for i := range m {
		setup.Chol[i*m+i] = 1
	}
	rows := min(learnRows, len(y))
	start := learnStart{Kernel: c.Kernel, Noise: noise, Batch: set.Batch, Jitter: jitter, Rows: rows, Versions: ReadBuild(),
		Files: map[string]string{"rows": "rows.csv", "inducing": "inducing.csv"}}
	for i, q := range p.Params {
		start.Parameters = append(start.Parameters, learnParameter{q.Leaf, q.Base, q.Name, theta[i], q.Free})
	}
	for _, step := range c.Steps {
		for _, rate := range c.Rates {
			setup.Kind, setup.Rate = stepKind(step), rate
			first, err := c.trace(ctx, setup, rows, func(pt LearnPoint) error {
				pt.Step, pt.Rate = step, rate
				return each(pt)
			})
			if err != nil {
				return err
			}
			start.ELBO = first
		}
	}
	return writeLearn(dir, &start, x, y, z)
}

// learnTheta is the start that BenchLearn names.
func learnTheta(p *kernelspace.Program, x, y []float64, seed uint64) []float64 {
	period := 1.0
	if peaks := vbks.Periods(x, y, vbks.PeriodOptions{Seed: seed}); len(peaks) > 0 {
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
func (c *LearnCase) trace(ctx context.Context, setup vbks.StepSetup, rows int, each func(LearnPoint) error) (first float64, err error) {
	dev, err := OpenDevice(DeviceChoice{Kind: c.Device, Lanes: c.Threads})
	if err != nil {
		return 0, err
	}
	defer dev.Close()
	b, err := vbks.NewStepBench(dev, setup)
	if err != nil {
		return 0, err
	}
	defer b.Close()
	n := float64(len(setup.Y))
	var at LearnPoint
	for {
		v, err := b.ELBO(rows)
		if err != nil {
			return 0, err
		}
		at.ELBO = v / n
		if at.Steps == 0 {
			first = at.ELBO
		}
		if err := each(at); err != nil {
			return 0, err
		}
		if at.Seconds >= c.Seconds || math.IsNaN(v) {
			return first, nil
		}
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		more := max(1, at.Steps/5)
		began := time.Now()
		if err := b.Steps(more); err != nil {
			return 0, err
		}
		at.Seconds += time.Since(began).Seconds()
		at.Steps += more
	}
}

// writeLearn writes what another program needs to begin at the same place.
func writeLearn(dir string, s *learnStart, x, y, z []float64) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	column := func(name, header string, values ...[]float64) error {
		return WriteOutput(filepath.Join(dir, name), func(w io.Writer) error {
			line := []byte(header + "\n")
			for i := range values[0] {
				for j, v := range values {
					if j > 0 {
						line = append(line, ',')
					}
					line = strconv.AppendFloat(line, v[i], 'g', -1, 64)
				}
				line = append(line, '\n')
				if _, err := w.Write(line); err != nil {
					return err
				}
				line = line[:0]
			}
			return nil
		})
	}
	if err := column("rows.csv", "x,y", x, y); err != nil {
		return err
	}
	if err := column("inducing.csv", "x", z); err != nil {
		return err
	}
	return WriteOutput(filepath.Join(dir, "start.json"), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	})
}
