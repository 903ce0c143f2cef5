package experiment

import (
	"context"
	"fmt"
	"io"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/modelfile"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// freezer is a trainer that a model can be made of.
type freezer interface {
	Freeze(ctx context.Context, o vbks.FreezeOptions) (*vbks.Frozen, error)
	Seen() []float64
}

// keepModel writes the model file of what is believed now, where somebody keeps it.
// Without one a run has finished all the same; it is told why.
func (r *Run) keepModel(then func()) {
	trainer, can := r.trainer.(freezer)
	to := r.modeller()
	// What has been re-optimised for predicts nothing before the next evaluation.
	if !can || to == nil || r.modelled == nil || r.standing.Moved || r.state() != record.Running {
		then()
		return
	}
	var m *modelfile.Model
	var effects *record.Effects
	r.launch(func(ctx context.Context) error {
		f, err := trainer.Freeze(ctx, vbks.FreezeOptions{Top: r.top, MostFactors: vbks.MostFactors})
		if err == nil {
			m, err = modelfile.New(*r.modelled, r.trainer.Last(), f)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			err = to.Model(func(w io.Writer) error { return m.Write(w) })
		}
		if err != nil {
			return &noModel{err}
		}
		effects = r.effects(ctx, trainer, m)
		return context.Cause(ctx)
	}, func(err error) {
		if no, ok := err.(*noModel); ok {
			r.record(&record.Event{Type: record.EventNotice, Notice: fmt.Sprintf("no %s is written: %v", record.ModelFile, no.err)})
			err = nil
		}
		if r.gone(err) || r.state() == record.Failed {
			return
		}
		if effects != nil && r.standing.Effects == nil {
			r.record(&record.Event{Type: record.EventEffects, Effects: effects})
		}
		then()
	})
}

// effects are how large what the leader shows is, by a model of what is believed now;
// nil where that cannot be told, which keeps no run from finishing.
func (r *Run) effects(ctx context.Context, t freezer, m *modelfile.Model) *record.Effects {
	e := r.trainer.Last()
	at := e.Leader()
	if at < 0 {
		return nil
	}
	id := e.Kernels[at].ID
	all, err := inspect.EffectsOf(ctx, m.Frozen, &inspect.Learned{Columns: m.Data, Scaler: m.About.Scaler, X: t.Seen()}, id)
	if err != nil || len(all) == 0 {
		return nil
	}
	return &record.Effects{Evaluation: e.Index, Kernel: id, All: all}
}

// noModel is why there is no model file.
type noModel struct{ err error }

func (e *noModel) Error() string { return e.err.Error() }

// modeller is who keeps the model file, nil if nobody does.
func (r *Run) modeller() record.Modeller {
	all, several := r.recorder.(record.Recorders)
	if !several {
		all = record.Recorders{r.recorder}
	}
	for _, rec := range all {
		if to, ok := rec.(record.Modeller); ok {
			return to
		}
	}
	return nil
}
