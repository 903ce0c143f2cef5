package study

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/kestrel/datasets/elsewhere"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/internal/scratch"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks/exact"
)

// Range is from how few to how many of something there are.
type Range struct{ Fewest, Most int }

// ParseRowRange reads "300..1000".
func ParseRowRange(text string) (Range, error) {
	r, ok := parseRange(text, 10, 10_000)
	if !ok {
		return r, fmt.Errorf("%q is no range of rows from 10 to 10000, such as 300..1000", text)
	}
	return r, nil
}

// ParseLeafRange reads "4..6".
func ParseLeafRange(text string) (Range, error) {
	r, ok := parseRange(text, 1, grow.MostLeaves)
	if !ok {
		return r, fmt.Errorf("%q is no range of base kernels from 1 to %d, such as 4..6", text, grow.MostLeaves)
	}
	return r, nil
}

func parseRange(text string, least, most int) (r Range, ok bool) {
	from, to, ok := strings.Cut(text, "..")
	var errFrom, errTo error
	r.Fewest, errFrom = strconv.Atoi(from)
	r.Most, errTo = strconv.Atoi(to)
	return r, ok && errFrom == nil && errTo == nil && r.Fewest >= least && r.Most >= r.Fewest && r.Most <= most
}

// drawnData is the name of the table that a fit reads.
const drawnData = "data.csv"

// drawnConfig is the program's defaults for such data as they are, without test rows, then what a
// study sets, then what its user does.
func drawnConfig(name string, own, set []config.Override) (config.Config, error) {
	var all []config.Override
	for _, s := range [][2]string{{"name", name}, {"data.test", "0"}, {"data.standardise_x", "none"}, {"data.standardise_y", "none"}} {
		all = append(all, config.Override{Key: s[0], Value: s[1], Flag: s[0]})
	}
	return config.ForTable(drawnData, "", slices.Concat(all, own, set))
}

// What is drawn.
const (
	halfRange             = 10.0 // of the inputs
	leastNoise, mostNoise = 0.05, 0.5
	leastYVar, mostYVar   = 0.8, 1.25
	mostDraws             = 100_000
)

// drawing makes data sets from the prior that fits believe in, see Calibration.
type drawing struct {
	Rows   Range
	Other  bool // another prior
	Kernel func(*rand.Rand) kernelspace.Expr
}

// drawnSet is a data set and what it was drawn from.
type drawnSet struct {
	x, y   []float64
	kernel kernelspace.Expr
	noise  float64 // sd, in sds of f
	draws  int     // until one was taken
	// What it was drawn with: the free vector, but for the noise, and the noise's variance.
	free     []float64
	variance float64
}

// draw makes a data set.
func (d *drawing) draw(ctx context.Context, rng *rand.Rand) (*drawnSet, error) {
	n := d.Rows.Fewest + rng.IntN(d.Rows.Most-d.Rows.Fewest+1)
	s := &drawnSet{x: make([]float64, n)}
	for i := range s.x {
		s.x[i] = halfRange * (2*rng.Float64() - 1)
	}
	rows, err := exact.New(cpu.New(cpu.Options{Lanes: 1}), s.x, nil, 1, exact.Options{})
	if err != nil {
		return nil, err
	}
	kernels := map[string]*exact.Kernel{}
	z := make([]float64, n)
	for s.draws = 1; s.draws <= mostDraws; s.draws++ {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		s.kernel = d.Kernel(rng).Canonical()
		id := s.kernel.ID()
		p, err := kernelspace.Compile(s.kernel, kernelspace.Options{Dim: 1})
		if err != nil {
			return nil, err
		}
		if kernels[id] == nil {
			if kernels[id], err = rows.Kernel(p); err != nil {
				return nil, err
			}
		}
		mean, sd, lo, hi := rows.Prior(p)
		free := make([]float64, len(mean)) // the last one is the noise's, which is not in f
		for i := range p.Free {
			if d.Other {
				mean[i], sd[i] = mean[i]+sd[i]/2, sd[i]/2
			}
			for ok := false; !ok; ok = free[i] >= lo[i] && free[i] <= hi[i] {
				free[i] = mean[i] + sd[i]*rng.NormFloat64()
			}
		}
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		s.noise = leastNoise * math.Exp(rng.Float64()*math.Log(mostNoise/leastNoise))
		f, ok, err := kernels[id].Draw(free, z)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		sdF := math.Sqrt(variance(f))
		s.y, s.free, s.variance = f, free, s.noise*s.noise*sdF*sdF
		for i := range s.y {
			s.y[i] += s.noise * sdF * rng.NormFloat64()
		}
		if v := variance(s.y); v >= leastYVar && v <= mostYVar {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no data of variance about 1 in %d draws", mostDraws)
}

// variance is that about the mean.
func variance(y []float64) float64 {
	mean, square := 0.0, 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		square += (v - mean) * (v - mean) / float64(len(y))
	}
	return square
}

// prepare prepares a config's run of the data set. A run reads a table, which is there for as
// long as that takes.
func (s *drawnSet) prepare(ctx context.Context, c *config.Config, seed uint64, lanes int) (*prepare.Job, error) {
	dir, err := scratch.Make("calibrate")
	if err != nil {
		return nil, err
	}
	defer dir.Remove()
	var text bytes.Buffer
	table := [][]string{{"x", "y"}}
	for i := range s.y {
		table = append(table, []string{files.FormatFloat(s.x[i]), files.FormatFloat(s.y[i])})
	}
	if err := files.WriteRows(&text, table...); err != nil {
		return nil, err
	}
	to := c.Clone()
	to.Data.Path = filepath.Join(dir.Path, drawnData)
	to.Settings.Seed, to.Data.Seed = seed, seed
	if to.Device.Lanes == 0 {
		to.Device.Lanes = lanes
	}
	if err := os.WriteFile(to.Data.Path, text.Bytes(), 0o600); err != nil {
		return nil, err
	}
	return prepareRun(elsewhere.Own(ctx, to.Data.Path), to)
}
