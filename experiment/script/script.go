package script

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/datasets/transform"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/template"
)

// exactRows is the number of rows up to which scripts condition on all of them; with
// more they have the run's inducing inputs, where the library has such.
const exactRows = 2000

//go:embed script.py.tmpl
var page string

// Script is a program in the making.
type Script struct {
	lib    *library
	of     *inspect.Solved
	checks [][]float64 // in the data's units
	means  [][]float64 // by kernel, of t(y)
	sds    [][]float64
	text   []string // kernels
	used   map[string]bool
}

// Check returns an error if there is no library of a name.
func Check(name string) error {
	if !slices.Contains(Libraries(), name) {
		return fmt.Errorf("unknown library %q; libraries are %s", name, strings.Join(Libraries(), ", "))
	}
	return nil
}

// New makes the script of a run's kernels for a library. Errors: a kernel that the
// library cannot express, or rows that are too many for it.
func New(name string, of *inspect.Solved) (*Script, error) {
	if err := Check(name); err != nil {
		return nil, err
	}
	s := &Script{of: of, used: map[string]bool{}}
	all := libraries()
	s.lib = &all[slices.Index(Libraries(), name)]
	if len(of.Y) > exactRows && s.lib.inducing == "" {
		return nil, fmt.Errorf("%d rows: beyond %d scripts condition by inducing inputs, which those for %s have not; "+
			"--library numpy and gpflow have", len(of.Y), exactRows, name)
	}
	for i := range of.Kernels {
		k := &of.Kernels[i]
		text, err := s.lib.expression(k.Program, k.Theta, s.used)
		if err != nil {
			return nil, err
		}
		s.text = append(s.text, strings.TrimSuffix(strings.TrimPrefix(text, "("), ")"))
		if !balanced(s.text[i]) {
			s.text[i] = text
		}
	}
	return s, s.predict()
}

// balanced reports whether every bracket is closed behind where it is opened.
func balanced(text string) bool {
	open := 0
	for _, c := range text {
		switch c {
		case '(':
			open++
		case ')':
			if open--; open < 0 {
				return false
			}
		}
	}
	return open == 0
}

// predict finds what is to be compared: at three points between rows, by dense algebra
// with each kernel's own formula.
func (s *Script) predict() error {
	of, n := s.of, len(s.of.Y)
	if n == 0 || len(of.Kernels) == 0 {
		return errors.New("there is nothing to write a script of")
	}
	dim := of.Data.Dim
	var x [][]float64
	for i := range 3 {
		a, b := of.X[(i*(n-1)/3)*dim:][:dim], of.X[((i+1)*(n-1)/3)*dim:][:dim]
		point, back := make([]float64, dim), make([]float64, dim)
		for j := range point {
			back[j] = of.Scaler.InputBack(j, 0.37*a[j]+0.63*b[j])
			point[j] = of.Scaler.Input(j, back[j])
		}
		x, s.checks = append(x, point), append(s.checks, back)
	}
	for i := range of.Kernels {
		k := &of.Kernels[i]
		of := exactly
		if n > exactRows {
			of = s.byInducing
		}
		mean, sd, err := of(k, s.of, x)
		if err != nil {
			return fmt.Errorf("%s: %w", k.Program.ID, err)
		}
		for r := range mean {
			mean[r] = mean[r]*s.of.Scaler.YScale + s.of.Scaler.YShift
			sd[r] *= s.of.Scaler.YScale
		}
		s.means, s.sds = append(s.means, mean), append(s.sds, sd)
	}
	return nil
}

func rowsOf(x []float64, dim int) [][]float64 { return slices.Collect(slices.Chunk(x, dim)) }

// exactly predicts with all of k(X,X):
//
//	E f = kᵀ(K + σ²I)⁻¹y     var f = k(x,x) − kᵀ(K + σ²I)⁻¹k
func exactly(k *inspect.SolvedKernel, of *inspect.Solved, x [][]float64) (mean, sd []float64, err error) {
	rows := rowsOf(of.X, of.Data.Dim)
	n := len(rows)
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			cov.SetSym(i, j, k.Program.Eval(k.Theta, rows[i], rows[j], i == j))
		}
		cov.SetSym(i, i, cov.At(i, i)+k.Noise)
	}
	var c mat.Cholesky
	if !c.Factorize(cov) {
		return nil, nil, errors.New("its covariance of the rows is not positive definite")
	}
	for _, p := range x {
		kx := mat.NewVecDense(n, nil)
		for i := range n {
			kx.SetVec(i, k.Program.Eval(k.Theta, rows[i], p, false))
		}
		var w mat.VecDense
		if err := c.SolveVecTo(&w, kx); err != nil {
			return nil, nil, err
		}
		v := k.Program.Eval(k.Theta, p, p, true) - mat.Dot(&w, kx)
		mean, sd = append(mean, mat.Dot(&w, mat.NewVecDense(n, of.Y))), append(sd, math.Sqrt(max(0, v)))
	}
	return mean, sd, nil
}

// byInducing predicts with the run's inducing inputs, as the program does.
func (s *Script) byInducing(k *inspect.SolvedKernel, of *inspect.Solved, x [][]float64) (mean, sd []float64, err error) {
	p, err := of.Predict(k, slices.Concat(x...))
	if err != nil {
		return nil, nil, err
	}
	for r := range x {
		m, v := p.Moments(r, false)
		mean, sd = append(mean, m), append(sd, math.Sqrt(v))
	}
	return mean, sd, nil
}

// kernel is what the page has of one.
type kernel struct{ Name, Weight, Expr, Noise, Means, SDs string }

// own are the inducing inputs of a kernel that has its own.
type own struct{ Name, Z string }

// Write writes the program, whose file and whose table have these names.
func (s *Script) Write(w io.Writer, run, file, table string) error {
	of, d := s.of, s.of.Data
	names := make([]string, d.Dim)
	for i := range d.Inputs {
		names[i] = d.Inputs[i].Name
	}
	points := func(x [][]float64) string {
		var rows []string
		for _, r := range x {
			rows = append(rows, list(r))
		}
		return "[" + strings.Join(rows, ", ") + "]"
	}
	forward, back := transforms(of.Scaler.Transform)
	ids := make([]string, len(of.Kernels))
	for i, k := range of.Kernels {
		ids[i] = k.Program.ID
	}
	fields := map[string]any{
		"Title": fmt.Sprintf(
			"%s of the run %s, for %s.",
			plain(strings.Join(ids, ", ")),
			plain(run),
			s.lib.name,
		), "File": plain(file), "Table": plain(table),
		"TableText": strconv.QuoteToASCII(table), "Version": record.ReadBuild().Version, "Library": s.lib.name, "Imports": s.lib.imports,
		"Inputs": texts(
			names,
		), "Target": strconv.QuoteToASCII(d.Target.Name), "XShift": list(of.Scaler.XShift), "XScale": list(of.Scaler.XScale),
		"YShift": num(of.Scaler.YShift), "YScale": num(of.Scaler.YScale), "Transform": forward, "Back": back,
		"Of":     strings.NewReplacer("{", "(", "}", ")", `"`, "'", `\`, "/").Replace(plain(of.Scaler.Transform.Of(d.Target.Name))),
		"Checks": points(s.checks), "Helpers": s.lib.helpers(s.used), "Predict": s.lib.predict,
	}
	if len(of.Y) > exactRows {
		fields["Z"], fields["Predict"] = points(rowsOf(of.Z, d.Dim)), s.lib.inducing
		var owns []own
		for _, k := range of.Kernels {
			if k.Z != nil {
				owns = append(owns, own{strconv.QuoteToASCII(k.Program.ID), points(rowsOf(k.Z, d.Dim))})
			}
		}
		fields["Own"] = owns
		fields["Helpers"] = fields["Helpers"].(string) + fmt.Sprintf("JITTER = %s  # of k(Z,Z), relative\n\n", num(of.Jitter.Relative))
	}
	var all []kernel
	for i, k := range of.Kernels {
		all = append(
			all,
			kernel{strconv.QuoteToASCII(k.Program.ID), num(k.Weight), s.text[i], num(k.Noise), list(s.means[i]), list(s.sds[i])},
		)
	}
	fields["Kernels"] = all
	var b bytes.Buffer
	if err := template.Text(&b, page, fields); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// plain is a text that ends no text of Python's and no line.
func plain(text string) string {
	quoted := strconv.QuoteToASCII(text)
	return quoted[1 : len(quoted)-1]
}

func texts(values []string) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strconv.QuoteToASCII(v)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// transforms are t(y) and its inverse in Python.
func transforms(t transform.Transform) (forward, back string) {
	l, low, high := num(t.Lambda), num(t.Low), num(t.High)
	switch {
	case t.Identity():
		return "y", "z"
	case t.Name == transform.Logit:
		return fmt.Sprintf("np.log((y - %s) / (%s - y))", low, high), fmt.Sprintf("%s + (%s - %s) / (1 + np.exp(-z))", low, high, low)
	case t.Name == transform.BoxCox && t.Lambda != 0:
		return fmt.Sprintf("np.expm1(%s * np.log(y)) / %s", l, l), fmt.Sprintf("np.maximum(1 + %s * z, 0) ** (1 / %s)", l, l)
	}
	return "np.log(y)", "np.exp(z)"
}

// WriteRows writes the rows that the kernels learned from, in the data's units, the
// target last.
func (s *Script) WriteRows(w io.Writer) error {
	d := s.of.Data
	var head []string
	for i := range d.Inputs {
		head = append(head, d.Inputs[i].Name)
	}
	table := [][]string{append(head, d.Target.Name)}
	for _, r := range s.of.Rows {
		var row []string
		for _, v := range append(slices.Clone(d.Row(int(r))), d.Y[r]) {
			row = append(row, files.FormatFloat(v))
		}
		table = append(table, row)
	}
	for i := range table[0] { // one line that NumPy leaves out
		table[0][i] = files.SafeCell(strings.Join(strings.Fields(table[0][i]), " "))
	}
	text, err := files.FormatRows(table)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
