package kernelspace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Options say what inputs a kernel is compiled for.
type Options struct {
	Columns      []string // names of the input columns; may be nil if Dim is given
	Dim          int      // number of input columns; 0: len(Columns)
	ARD          bool     // a length scale per column for leaves that do not say "ard" or "iso"
	SharedPeriod bool     // one period for all columns of a leaf, not one per column
	Line         *Line    // a linear mean function; nil: none
	// Levels returns the values of a column that have a length of their own in CAT[column;ard], ascending,
	// of more than MaxLevels some MaxLevels+1; nil, or none: they are not known.
	Levels func(column int) []float64
}

// MaxLevels is how many levels of a column may have a length each.
const MaxLevels = 100

// Compile lays out the hyperparameters of e and translates it into a Program.
//
// The leaves stay in the order as written; pass e.Canonical() where programs
// of the same kernel should be laid out alike. A leaf on a single column is
// always isotropic.
//
// All raw parameters are free, except that in a product exactly one factor
// keeps its amplitudes: its first sum or change point, or without one its first
// leaf. Every other factor is normalised: a leaf has variance 1, a sum or change
// point is normalised in its first term, a product in all its factors. LIN and POLY have one scale:
// isotropic, the length scale is 1 and the variance is the amplitude; with a
// length scale per column, the variance is 1 and the length scales are free,
// the first of them being 1, too, where the leaf is normalised.
//
// Errors: the zero Expr, no input columns, a column that does not exist or
// that one leaf names twice, lengths for levels that are too many or not known.
func Compile(e Expr, opt Options) (*Program, error) {
	if e.IsZero() {
		return nil, errors.New("compiling a kernel: no expression")
	}
	if opt.Dim == 0 {
		opt.Dim = len(opt.Columns)
	}
	if opt.Dim < 1 {
		return nil, fmt.Errorf("compiling %s: no input columns", e.Written())
	}
	if len(opt.Columns) > 0 && len(opt.Columns) != opt.Dim {
		return nil, fmt.Errorf("compiling %s: %d names for %d input columns", e.Written(), len(opt.Columns), opt.Dim)
	}
	c := compiler{opt: opt, p: &Program{Expr: e, ID: e.ID(), Dim: opt.Dim}}
	if err := c.emit(e.root, 0); err != nil {
		return nil, fmt.Errorf("compiling %s: %w", e.Written(), err)
	}
	c.p.fix()
	if opt.Line != nil {
		return c.p.withLine(opt)
	}
	return c.p, nil
}

type compiler struct {
	opt Options
	p   *Program
}

// emit appends the instructions of n, below whose result there are stack
// other matrices.
func (c *compiler) emit(n *node, stack int) error {
	if n.kind == kindLeaf {
		c.p.Depth = max(c.p.Depth, stack+1)
		return c.leaf(n)
	}
	for i, t := range n.terms {
		if err := c.emit(t, stack+i); err != nil {
			return err
		}
	}
	op := OpAdd
	switch n.kind {
	case kindProduct:
		op = OpMul
	case kindChange:
		op = OpChange
	}
	c.p.Instrs = append(c.p.Instrs, Instr{Op: op, Arity: len(n.terms)})
	return nil
}

func (c *compiler) leaf(n *node) error {
	cols, err := c.columns(n)
	if err != nil {
		return err
	}
	info := n.base.info()
	in := Instr{Op: info.op, Off: len(c.p.Params), Cols: cols, Degree: info.degree, base: n.base}
	ard := n.scope.shape == shapeARD || n.scope.shape == shapeDefault && c.opt.ARD
	switch info.scale {
	case scaleNone:
	case scaleLevel:
		if n.scope.shape == shapeARD {
			if in.Levels, err = c.levels(n, cols); err != nil {
				return err
			}
			in.Op, in.NumScale = OpLevels, len(in.Levels)
		}
	default:
		in.NumScale = 1
		if ard {
			in.NumScale = len(cols)
		}
	}
	if info.periods {
		in.NumPeriod = len(cols)
		if c.opt.SharedPeriod {
			in.NumPeriod = 1
		}
	}
	c.p.Instrs = append(c.p.Instrs, in)

	add := func(name string, column int) {
		c.p.Params = append(c.p.Params, Param{
			Name: name, Leaf: c.p.numLeaves() - 1, Base: info.name, Column: column, Free: true,
		})
	}
	perColumn := func(name string, count int) {
		for i := range count {
			if count == len(cols) {
				add(name, cols[i])
			} else {
				add(name, -1)
			}
		}
	}
	if n.base == baseStep {
		add(namePlace, cols[0])
		add(nameWidth, cols[0])
		return nil
	}
	add(nameVariance, -1)
	if in.Op == OpLevels {
		for i := range in.Levels {
			add(nameLengthscale, cols[0])
			c.p.Params[len(c.p.Params)-1].Level = 1 + i
		}
	} else {
		perColumn(nameLengthscale, in.NumScale)
	}
	perColumn(namePeriod, in.NumPeriod)
	switch info.shape {
	case "":
	case nameOrigin:
		perColumn(info.shape, 1)
	default:
		add(info.shape, -1)
	}
	return nil
}

// Names of raw parameters.
const (
	nameVariance    = "variance"
	nameLengthscale = "lengthscale"
	nameAlpha       = "alpha"
	namePeriod      = "period"
	nameOffset      = "offset"
	nameOrigin      = "origin"
	namePlace       = "place"
	nameWidth       = "width"
)

// columns resolves the columns that a leaf names.
func (c *compiler) columns(n *node) ([]int, error) {
	if n.base == baseStep && len(n.scope.columns) == 0 {
		return []int{0}, nil
	}
	if len(n.scope.columns) == 0 {
		all := make([]int, c.opt.Dim)
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	leaf := Expr{n}.Written()
	if n.base == baseStep && len(n.scope.columns) > 1 {
		return nil, fmt.Errorf("%s: a change point is along one column; give it its own, as in CP(SE,LIN)[1]", leaf)
	}
	var cols []int
	for _, col := range n.scope.columns {
		i := col.number - 1
		if col.number == 0 {
			if i = slices.Index(c.opt.Columns, col.name); i >= 0 {
				if k := slices.Index(c.opt.Columns[i+1:], col.name); k >= 0 {
					return nil, fmt.Errorf("%s: inputs %d and %d are both named %q; write the number", leaf, i+1, i+k+2, col.name)
				}
			}
		}
		switch {
		case col.number > c.opt.Dim:
			return nil, fmt.Errorf("%s: there is no column %d; columns are counted from 1 to %d", leaf, col.number, c.opt.Dim)
		case i < 0:
			return nil, fmt.Errorf("%s: there is no column %q; %s", leaf, col.name, c.suggest(col.name))
		case slices.Contains(cols, i):
			return nil, fmt.Errorf("%s: column %d (%s) stands twice; name it once", leaf, i+1, c.columnName(i))
		}
		cols = append(cols, i)
	}
	return cols, nil
}

// levels are those of a leaf's column that have a length each.
func (c *compiler) levels(n *node, cols []int) ([]float64, error) {
	leaf := Expr{n}.Written()
	if len(cols) != 1 {
		return nil, fmt.Errorf("%s: %d columns; a length for each level is of one column, as in CAT[kind;ard]", leaf, len(cols))
	}
	var levels []float64
	if c.opt.Levels != nil {
		levels = c.opt.Levels(cols[0])
	}
	switch n := len(levels); {
	case n == 0:
		return nil, fmt.Errorf("%s: the levels of the column are not known without data", leaf)
	case n > MaxLevels:
		return nil, fmt.Errorf("%s: more than %d levels, too many for a length each; leave ;ard out", leaf, MaxLevels)
	}
	return levels, nil
}

func (c *compiler) columnName(i int) string {
	if len(c.opt.Columns) == 0 {
		return "unnamed"
	}
	return c.opt.Columns[i]
}

func (c *compiler) suggest(name string) string {
	switch near := nearest(name, c.opt.Columns); {
	case strings.EqualFold(name, "ard") || strings.EqualFold(name, "iso"):
		return fmt.Sprintf("a length scale per column or one for all is written [;%s]", strings.ToLower(name))
	case near != "":
		return fmt.Sprintf("did you mean %q?", near)
	case len(c.opt.Columns) == 0:
		return fmt.Sprintf("the columns have no names; write their number, 1 to %d", c.opt.Dim)
	case len(c.opt.Columns) > 10:
		return fmt.Sprintf("there are %d, the first: %s", len(c.opt.Columns), strings.Join(c.opt.Columns[:10], ", "))
	}
	return "columns: " + strings.Join(c.opt.Columns, ", ")
}

// numLeaves returns the number of leaf instructions so far.
func (p *Program) numLeaves() int {
	n := 0
	for i := range p.Instrs {
		if p.Instrs[i].Op < OpAdd {
			n++
		}
	}
	return n
}

// leafInstrs returns the leaf instructions, left to right.
func (p *Program) leafInstrs() []*Instr {
	var leaves []*Instr
	for i := range p.Instrs {
		if p.Instrs[i].Op < OpAdd {
			leaves = append(leaves, &p.Instrs[i])
		}
	}
	return leaves
}

// fix marks the parameters that are fixed at 1, and lists the free ones.
func (p *Program) fix() {
	leaves := p.leafInstrs()
	for i, amp := range p.amplitudes() {
		in := leaves[i]
		if in.Op == OpStep {
			continue
		}
		scaled := in.base.info().scale == scaleAmplitude
		perColumn := in.NumScale > 1
		p.Params[in.Off].Free = amp.free && !(scaled && perColumn)
		if scaled && !(perColumn && amp.free) {
			p.Params[in.Off+1].Free = false
		}
	}
	p.listFree()
}

func (p *Program) listFree() {
	p.Free = nil
	for i := range p.Params {
		if p.Params[i].Free && p.Params[i].Known.How != Fixed {
			p.Free = append(p.Free, i)
		}
	}
}
