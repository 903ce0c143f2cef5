package modelfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/experiment/npz"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// Write writes the file.
func (m *Model) Write(w io.Writer) error {
	arrays, err := m.arrays()
	if err != nil {
		return err
	}
	buf := bufio.NewWriter(w)
	if err := npz.WriteHashed(buf, arrays); err != nil {
		return fmt.Errorf("model file: %w", err)
	}
	return buf.Flush()
}

func (m *Model) arrays() (map[string]vbks.Tensor, error) {
	about, err := json.Marshal(&m.About)
	if err != nil {
		return nil, fmt.Errorf("model file: %w", err)
	}
	f, n := m.Frozen, m.Inducing()
	version := float64(plainVersion)
	switch {
	case f.Local != nil && f.Local.Table != nil:
		version = formatVersion
	case f.Noise != nil:
		version = noiseVersion
	case f.Local != nil || slices.ContainsFunc(f.Kernels, func(k vbks.FrozenKernel) bool { return k.Z != nil }):
		version = ownVersion
	}
	out := map[string]vbks.Tensor{
		"format": {Shape: []int{1}, Data: []float64{version}},
		"about":  npz.Bytes(about),
		"z":      {Shape: []int{n, f.Dim}, Data: f.Z},
	}
	if f.Y != nil {
		out["rows/x"] = vbks.Tensor{Shape: []int{len(f.Y), f.Dim}, Data: f.X}
		out["rows/y"] = vbks.Tensor{Shape: []int{len(f.Y)}, Data: f.Y}
		if f.Weights != nil {
			out["rows/weights"] = vbks.Tensor{Shape: []int{len(f.Y)}, Data: f.Weights}
		}
	}
	switch {
	case f.Local == nil:
	case f.Local.Table != nil:
		out["neighbours/x"] = vbks.Tensor{Shape: []int{len(f.Local.Table.Y), f.Dim}, Data: f.Local.Table.X}
		out["neighbours/y"] = vbks.Tensor{Shape: []int{len(f.Local.Table.Y)}, Data: f.Local.Table.Y}
	default:
		out["neighbours/x"] = vbks.Tensor{Shape: []int{len(f.Local.Model.X)}, Data: f.Local.Model.X}
		out["neighbours/y"] = vbks.Tensor{Shape: []int{len(f.Local.Model.Y)}, Data: f.Local.Model.Y}
	}
	for i := range f.Kernels {
		states := f.Kernels[i].States
		if z := f.Kernels[i].Z; z != nil {
			out[fmt.Sprintf("kernel/%d/z", i)] = vbks.Tensor{Shape: []int{n, f.Dim}, Data: z}
		}
		put := func(name string, shape []int, of func(s *vbks.FrozenState) []float64, some []vbks.FrozenState) {
			t := vbks.Tensor{Shape: append([]int{len(some)}, shape...)}
			for j := range some {
				t.Data = append(t.Data, of(&some[j])...)
			}
			out[fmt.Sprintf("kernel/%d/%s", i, name)] = t
		}
		put("theta", []int{len(states[0].Theta)}, func(s *vbks.FrozenState) []float64 { return s.Theta }, states)
		put("noise", nil, func(s *vbks.FrozenState) []float64 { return []float64{s.Noise} }, states)
		put("share", nil, func(s *vbks.FrozenState) []float64 { return []float64{s.Share} }, states)
		if states[0].Root == nil {
			continue
		}
		put("l", []int{n, n}, func(s *vbks.FrozenState) []float64 { return s.L }, states)
		some := states
		if one := &states[0].Root[0]; !slices.ContainsFunc(states, func(s vbks.FrozenState) bool { return &s.Root[0] != one }) {
			some = states[:1]
		}
		put("mean", []int{n}, func(s *vbks.FrozenState) []float64 { return s.Mean }, some)
		put("root", []int{n, n}, func(s *vbks.FrozenState) []float64 { return s.Root }, some)
	}
	return out, nil
}

// mostRows is the number of inducing inputs beyond which factors are not found from
// rows: they take the memory of a few squares of it.
const mostRows = 4096

// errNone is what is below the error of a file that is no model.
var errNone = errors.New("it is no model file")

// Open reads a model file. Errors are one line and name it.
func Open(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("model file %q: %w", path, err)
	}
	return m, nil
}

// Read reads an open model file.
func Read(f *os.File) (*Model, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNone
	}
	return decode(f, info.Size())
}

func decode(file io.ReaderAt, size int64) (*Model, error) {
	arrays, err := npz.ReadStored(file, size)
	if err != nil {
		return nil, fmt.Errorf("damaged, or no model file: %w", err)
	}
	l := &loader{arrays: arrays}
	if v := l.array("format", 1); l.err == nil && !slices.Contains([]float64{plainVersion, ownVersion, noiseVersion, formatVersion}, v[0]) {
		return nil, fmt.Errorf("of format %v, this program reads %d; another version of kestrel wrote it", v[0], formatVersion)
	}
	text, ok := npz.BytesOf(arrays["about"])
	if l.err != nil || !ok || len(text) == 0 {
		return nil, errNone
	}
	m := &Model{Frozen: &vbks.Frozen{}}
	if err := json.Unmarshal(text, &m.About); err != nil {
		return nil, fmt.Errorf("its description cannot be read: %w", err)
	}
	if err := m.About.check(); err != nil {
		return nil, err
	}
	if m.Data, err = m.About.Columns.Dataset(); err != nil {
		return nil, err
	}
	m.Data.Name = m.About.Data.Name
	if err := l.frozen(m); err != nil {
		return nil, err
	}
	return m, m.Frozen.Check()
}

// loader takes arrays out of a file and keeps its first error.
type loader struct {
	arrays map[string]vbks.Tensor
	err    error
}

// array returns the numbers of an array of a shape; −1 stands for any length.
func (l *loader) array(name string, shape ...int) []float64 {
	t, ok := l.arrays[name]
	fits := len(t.Shape) == len(shape)
	for i := range shape {
		fits = fits && (shape[i] < 0 || t.Shape[i] == shape[i])
	}
	switch {
	case l.err != nil:
	case !ok:
		l.err = fmt.Errorf("array %s is missing", name)
	case !fits:
		l.err = fmt.Errorf("array %s has the shape %v where %v is wanted", name, t.Shape, shape)
	}
	if l.err != nil {
		return nil
	}
	return t.Data
}

// frozen makes what the model predicts with.
func (l *loader) frozen(m *Model) error {
	a, f, d := &m.About, m.Frozen, m.Data
	*f = vbks.Frozen{
		Dim: d.Dim, Z: l.array("z", -1, d.Dim), ByRoot: a.Root == rootCovariance,
		Jitter: device.Jitter{Relative: a.Jitter.Relative, Absolute: a.Jitter.Absolute}, Calibration: a.Calibration,
		Noise: a.Noise,
	}
	n := m.Inducing()
	if a.HasRows {
		f.X, f.Y = l.array("rows/x", -1, d.Dim), l.array("rows/y", -1)
		if l.arrays["rows/weights"].Data != nil {
			f.Weights = l.array("rows/weights", len(f.Y))
		}
		if l.err == nil && (n > mostRows || n > len(f.Y)) {
			return fmt.Errorf("%d inducing inputs for %d rows", n, len(f.Y))
		}
	}
	if p := a.Neighbours; p != nil {
		f.Local = p
		switch {
		case p.Table != nil:
			p.Table.X, p.Table.Y = l.array("neighbours/x", -1, d.Dim), l.array("neighbours/y", -1)
		case p.Model != nil:
			p.Model.X, p.Model.Y = l.array("neighbours/x", -1), l.array("neighbours/y", -1)
		} // of neither Check says so
	}
	columns := make([]string, d.Dim)
	for i := range d.Inputs {
		columns[i] = d.Inputs[i].Name
	}
	for i, c := range a.Line {
		if c < 0 || c >= d.Dim || slices.Contains(a.Line[:i], c) {
			return fmt.Errorf("a linear mean has a slope along input %d of %d", c, d.Dim)
		}
	}
	var line *kernelspace.Line // whose values are in theta
	if a.Line != nil {
		line = &kernelspace.Line{Columns: a.Line, Slopes: ones(len(a.Line)), Constant: 1}
	}
	seen := map[string]bool{}
	for i := range a.Kernels {
		if l.err != nil {
			return l.err
		}
		k := &a.Kernels[i]
		e, err := kernelspace.Parse(k.ID)
		if err != nil {
			return fmt.Errorf("kernel %d: %w", i, err)
		}
		p, err := kernelspace.Compile(e.Canonical(), kernelspace.Options{
			Columns: columns, Dim: d.Dim, ARD: a.ARD, SharedPeriod: a.SharedPeriod, Line: line, Levels: k.levels,
		})
		if err != nil {
			return fmt.Errorf("kernel %d: %w", i, err)
		}
		if p.ID != k.ID || seen[p.ID] || k.Rank < 1 || !k.ascend() {
			return fmt.Errorf("kernel %d: %s of rank %d is not what its model has", i, p.ID, k.Rank)
		}
		seen[p.ID] = true
		var own []float64
		if name := fmt.Sprintf("kernel/%d/z", i); l.arrays[name].Data != nil {
			own = l.array(name, n, d.Dim)
		}
		f.Kernels = append(f.Kernels, vbks.FrozenKernel{
			Program: p, Rank: k.Rank, Posterior: k.Posterior, Bayes: k.Bayes, Worth: k.Worth, LOO: k.LOO, Origins: k.Origins,
			Factor: k.Factor, Z: own, States: l.states(fmt.Sprintf("kernel/%d/", i), len(p.Params), n),
		})
	}
	return l.err
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// states are those of a kernel of so many parameters.
func (l *loader) states(at string, params, n int) []vbks.FrozenState {
	theta, share := l.array(at+"theta", -1, params), l.array(at+"share", -1)
	noise := l.array(at+"noise", len(share))
	if l.err == nil && len(theta) != len(share)*params {
		l.err = fmt.Errorf("array %stheta has %d numbers for %d states", at, len(theta), len(share))
	}
	if l.err != nil {
		return nil
	}
	out := make([]vbks.FrozenState, len(share))
	for s := range out {
		out[s] = vbks.FrozenState{Theta: theta[s*params : (s+1)*params], Noise: noise[s], Share: share[s]}
	}
	if _, ok := l.arrays[at+"l"]; !ok {
		return out
	}
	chol, mean, root := l.array(at+"l", len(out), n, n), l.array(at+"mean", -1, n), l.array(at+"root", -1, n, n)
	sets := 0
	if n > 0 {
		sets = len(mean) / n
	}
	if l.err == nil && (sets != 1 && sets != len(out) || len(root) != sets*n*n) {
		l.err = fmt.Errorf("array %smean is of %d states, of %d", at, sets, len(out))
	}
	if l.err != nil {
		return nil
	}
	for s := range out {
		q := min(s, sets-1)
		out[s].L, out[s].Mean, out[s].Root = chol[s*n*n:(s+1)*n*n], mean[q*n:(q+1)*n], root[q*n*n:(q+1)*n*n]
	}
	return out
}
