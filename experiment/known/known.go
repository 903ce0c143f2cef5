package known

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// space is what values are read against: the data with their units and scales.
type space struct {
	data    *datasets.Dataset
	scaler  *datasets.Scaler
	columns []string // names of the inputs
	units   []string // theirs
	target  string   // unit of the target, transformed
	stated  []statement
}

// statement is what is stated of the hyperparameters of a name.
type statement struct {
	key    string // of the config
	text   string // the name
	name   kernelspace.ParamName
	column int // among the inputs, −1: any
	how    kernelspace.Knowledge
	from   []config.Quantity // the value, the bounds or the median
	factor float64

	used bool
	why  kernelspace.Miss // why it means nothing in any kernel
}

func (s *statement) wrong(format string, args ...any) error {
	return fmt.Errorf("%s: %s %w", s.key, s.text, fmt.Errorf(format, args...))
}

// Apply returns the candidates, which are compiled with these options, with what a config
// states of their hyperparameters. Errors:
// a name that means none in any kernel, a column that is not there, a value that cannot be
// read, or two names that mean one hyperparameter and say equally much.
func Apply(
	c *config.Config, d *datasets.Dataset, scaler *datasets.Scaler, candidates []vbks.Candidate, o kernelspace.Options,
) ([]vbks.Candidate, error) {
	if c.Stated.Empty() {
		return candidates, nil
	}
	s := &space{data: d, scaler: scaler, target: scaler.Transform.Unit(d.Target.Unit)}
	for i := range d.Inputs {
		s.columns, s.units = append(s.columns, d.Inputs[i].Name), append(s.units, d.Inputs[i].Unit)
	}
	if err := s.take(&c.Stated); err != nil {
		return nil, err
	}
	out := slices.Clone(candidates)
	for i := range out {
		p, err := out[i].Program(o)
		if err != nil {
			return nil, fmt.Errorf("kernels: %w", err)
		}
		if out[i].Known, err = s.of(p); err != nil {
			return nil, err
		}
	}
	for i := range s.stated {
		if st := &s.stated[i]; !st.used {
			return nil, st.missed(s)
		}
	}
	return out, nil
}

// Within returns what is stated of the hyperparameters of one kernel: a config of it alone
// must say nothing that means nothing.
func Within(stated config.Stated, e kernelspace.Expr, o kernelspace.Options) (config.Stated, error) {
	var out config.Stated
	p, err := kernelspace.Compile(e.Canonical(), o)
	if err != nil {
		return out, err
	}
	s := &space{columns: o.Columns}
	if err := s.take(&stated); err != nil {
		return out, err
	}
	for _, st := range s.stated {
		if places, _ := p.Find(st.name, st.column); len(places) > 0 {
			out.Take(&stated, st.text)
		}
	}
	return out, nil
}

// take reads the names, those that say most first.
func (s *space) take(stated *config.Stated) error {
	add := func(key, text string, how kernelspace.Knowledge, factor float64, from ...config.Quantity) error {
		st := statement{key: key, text: text, how: how, from: from, factor: factor, column: -1}
		var err error
		if st.name, err = kernelspace.ParseParamName(text); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if st.name.Column != "" {
			if st.column, err = s.find(st.name.Column); err != nil {
				return st.wrong("%w", err)
			}
		}
		if st.how == kernelspace.Expected && (st.name.Name == "place" || st.name.Name == "origin") {
			return st.wrong("has no median and factor: it is a place; use optimise.bound")
		}
		s.stated = append(s.stated, st)
		return nil
	}
	for text, q := range stated.Fix {
		if err := add("optimise.fix", text, kernelspace.Fixed, 0, q); err != nil {
			return err
		}
	}
	for text, q := range stated.Bound {
		if err := add("optimise.bound", text, kernelspace.Bounded, 0, q[:]...); err != nil {
			return err
		}
	}
	for text, q := range stated.Prior {
		if err := add("optimise.prior", text, kernelspace.Expected, q.Factor, q.Median); err != nil {
			return err
		}
	}
	slices.SortFunc(s.stated, func(a, b statement) int {
		if d := b.name.Specific() - a.name.Specific(); d != 0 {
			return d
		}
		return strings.Compare(a.key+a.text, b.key+b.text)
	})
	return nil
}

// find returns where a column is among the inputs.
func (s *space) find(name string) (int, error) {
	if i := slices.Index(s.columns, name); i >= 0 {
		if k := slices.Index(s.columns[i+1:], name); k >= 0 {
			return 0, fmt.Errorf("names inputs %d and %d; write the number", i+1, i+k+2)
		}
		return i, nil
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 1 && i <= len(s.columns) {
		return i - 1, nil
	}
	if near := config.Nearest(name, s.columns); near != "" {
		return 0, fmt.Errorf("names no input: did you mean %s?", near)
	}
	return 0, fmt.Errorf("names no input; inputs are %s", strings.Join(s.columns, ", "))
}

// of returns what is known of a kernel's parameters, and of the noise.
func (s *space) of(p *kernelspace.Program) ([]kernelspace.Known, error) {
	out := make([]kernelspace.Known, len(p.Params)+1)
	by := make([]*statement, len(out))
	for k := range s.stated {
		st := &s.stated[k]
		places, why := p.Find(st.name, st.column)
		st.used, st.why = st.used || len(places) > 0, max(st.why, why)
		for _, i := range places {
			if other := by[i]; other != nil {
				if other.name.Specific() == st.name.Specific() {
					return nil, st.wrong("and %s: %s mean the same hyperparameter of %s; leave one out", other.key, other.text, p.ID)
				}
				continue
			}
			var err error
			if out[i], err = s.known(st, p, i); err != nil {
				return nil, err
			}
			by[i] = st
		}
	}
	return out, nil
}

// known is what a statement says of a place of a program.
func (s *space) known(st *statement, p *kernelspace.Program, i int) (k kernelspace.Known, err error) {
	var raw [2]float64
	for j, q := range st.from {
		if raw[j], err = s.raw(p, i, st.name.Root, q); err != nil {
			return k, st.wrong("= %q %w", string(q), err)
		}
		if math.IsInf(raw[j], 0) || raw[j] < 1e-150 || raw[j] > 1e150 {
			return k, st.wrong("= %q is beyond what can be computed with", string(q))
		}
	}
	k.How = st.how
	switch st.how {
	case kernelspace.Fixed:
		k.Value = raw[0]
	case kernelspace.Bounded:
		k.Low, k.High = math.Log(raw[0]), math.Log(raw[1])
		if p.Backwards(i) {
			k.Low, k.High = k.High, k.Low
		}
		if !(k.High-k.Low > 1e-6) {
			return k, st.wrong("= [%q, %q]: the lower bound comes first, and they differ", string(st.from[0]), string(st.from[1]))
		}
	case kernelspace.Expected:
		k.Mean, k.SD = math.Log(raw[0]), math.Log(st.factor)
		if st.name.Root {
			k.SD *= 2
		}
	}
	return k, nil
}

// missed says why a statement means nothing.
func (s *statement) missed(in *space) error {
	base := s.name.Base
	switch s.why {
	case kernelspace.NoSuchLeaf:
		return s.wrong("means nothing: no kernel of the space has %s", base)
	case kernelspace.NoSuchNumber:
		return s.wrong("means nothing: no kernel of the space has %s %d times", base, s.name.Number)
	case kernelspace.OtherColumn:
		return s.wrong("means nothing: in no kernel of the space has %s one of its own for %s; "+
			"kernels.ard = true, or %s[%s] in an expression, gives it one", base, in.columns[s.column], base, in.columns[s.column])
	}
	return s.wrong("means nothing: in all kernels of the space another amplitude stands for it")
}
