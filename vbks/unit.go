package vbks

import (
	"context"
	"fmt"
	"math/rand/v2"

	"kestrel/device"
	"kestrel/kernelspace"
	"kestrel/vbks/params"
	"kestrel/vbks/random"
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
	if o.Phase == phasePredict && !o.LeaveOut || o.Phase == phaseComponents {
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

// unit is the work of a phase for some kernels, on one worker.
type unit struct {
	*site
	order    *order
	worker   *worker
	tasks    []task
	outcomes []outcome // in the order of tasks
	stop     stopped
}

// newUnit makes a unit whose outcomes are what is known.
func newUnit(ctx context.Context, s *site, o *order, w *worker, tasks []task) *unit {
	u := &unit{site: s, order: o, worker: w, tasks: tasks, outcomes: make([]outcome, len(tasks))}
	for i := range tasks {
		u.outcomes[i] = tasks[i].Known
		if st := u.outcomes[i].State; st != nil {
			copied := *st // its slices are replaced, never written into
			u.outcomes[i].State = &copied
		}
	}
	u.stop = func() error { return s.step(ctx) }
	return u
}

// doHere does a unit's work on its own worker.
func doHere(ctx context.Context, u *unit) error { return u.work(ctx) }

// work does what the order says.
func (u *unit) work(ctx context.Context) error {
	switch u.order.Phase {
	case phaseSearch:
		return u.search(ctx)
	case phaseTransplant:
		return u.transplant(ctx)
	case phaseTheta:
		return u.widen(ctx)
	case phaseTune:
		return u.tune(ctx)
	case phaseLearn:
		return u.learn()
	case phaseEvidence:
		return u.evidence()
	case phaseIntegral:
		return u.integrals()
	case phasePredict:
		return u.predict()
	case phaseComponents:
		return u.components()
	case phaseFreeze:
		return u.freeze()
	}
	return fmt.Errorf("%q is no phase of a round", u.order.Phase)
}

// model returns that of member i.
func (u *unit) model(i int) *model { return u.models[u.tasks[i].Kernel] }

// all returns the members.
func (u *unit) all() []int {
	out := make([]int, len(u.tasks))
	for i := range out {
		out[i] = i
	}
	return out
}

// priors returns those of the members.
func (u *unit) priors() []prior {
	out := make([]prior, len(u.tasks))
	for i := range out {
		out[i] = u.model(i).prior
	}
	return out
}

// load gives a group of the worker the unit's kernels.
func (u *unit) load(g *group) error {
	programs := make([]*kernelspace.Program, len(u.tasks))
	for i := range programs {
		programs[i] = u.model(i).program
	}
	if err := g.load(programs, u.priors()); err != nil {
		return err
	}
	for i := range u.outcomes {
		g.lane.Write(g.factor, i, []float64{u.outcomes[i].Factor})
	}
	return nil
}

// rows returns a choice of rows on the worker's lane.
func (u *unit) rows(s *rowSet) (device.Points, error) { return u.worker.points(u.train, s) }

// seen returns all rows that have been seen.
func (u *unit) seen() device.Points { return device.Points{Data: u.train, To: u.order.Rows} }

// seenYY is Σ y² of these.
func (u *unit) seenYY() float64 { return sumSquares(u.y[:u.order.Rows]) }

// stream returns the random numbers of member i for one purpose of the
// evaluation.
func (u *unit) stream(i, purpose int) *rand.Rand {
	return random.Stream(u.settings.Seed, u.model(i).id, u.order.Number<<10+purpose)
}
