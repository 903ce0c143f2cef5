package vbks

import (
	"context"
	"fmt"

	"kestrel/kernelspace"
	"kestrel/vbks/params"
	"kestrel/vbks/starts"
)

// model is what is known of a kernel of the space before any data.
type model struct {
	id       string
	expr     kernelspace.Expr
	program  *kernelspace.Program
	prior    prior
	logPrior float64 // m₀
	kin      []starts.Relation
}

// site is what a machine has of a run whatever the phase: data and inducing
// inputs on the device, the kernels compiled, how starts are drawn. Units read
// it only. Between evaluations it changes where Reoptimize changes the settings or
// the inducing inputs; the bound that a worker searches on follows, besides, the
// number of live kernels.
type site struct {
	*common
	settings  Settings
	optimizer optimizer
	models    []*model
	drawer    *starts.Drawer
	total     int       // training rows
	y         []float64 // targets
	gate      gate
}

// site returns the trainer's own, as the run is.
func (t *Trainer) site() *site {
	s := &site{common: &t.common, settings: t.settings, optimizer: t.optimizer, drawer: t.drawer,
		total: t.data.Rows(), y: t.data.Y, gate: t.gate}
	for _, k := range t.kernels {
		s.models = append(s.models, k.model)
	}
	return s
}

// place puts what an order brings with it on the device.
func (s *site) place(o *order) (err error) {
	if o.Phase == phasePredict || o.Phase == phaseComponents {
		o.at, err = s.dev.NewData(o.X, nil, s.dim)
	}
	return err
}

// step is called between the steps of every optimisation.
func (s *site) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if s.gate != nil {
		return s.gate(ctx)
	}
	return nil
}

// formatParams lists a kernel's hyperparameters on one line.
func (s *site) formatParams(m *model, x []float64) string {
	raw, noise := params.Raw(m.program, x, s.floor)
	text := ""
	for _, i := range m.program.Free {
		p := m.program.Params[i]
		text += fmt.Sprintf("%s[%d].%s=%.4g ", p.Base, p.Leaf+1, p.Name, raw[i])
	}
	return text + fmt.Sprintf("noise=%.4g", noise)
}
