package inspect

import (
	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/vbks"
)

// What tests see of an inspector and of a predictor besides what others do.

// ErrClosed is the error of a question to a closed inspector.
var ErrClosed = errInspectorClosed

// MostBatch is the most rows of a batch, however few the kernels.
const MostBatch = mostBatch

// BatchRows is the rows of a batch.
func BatchRows(kernels int) int { return batchRows(kernels) }

// Trainer is what an inspector asks.
func (i *Inspector) Trainer() *vbks.Trainer { return i.trainer }

// Seen returns the rows of the inspected evaluation.
func (i *Inspector) Seen() []int32 { return i.seen() }

// OfData is what is inspected, OfScaler its standardisation.
func (i *Inspector) OfData() *datasets.Dataset { return i.subject.Data }

func (i *Inspector) OfScaler() *datasets.Scaler { return i.subject.Scaler }

// OfSettings are those of the trainer.
func (i *Inspector) OfSettings() vbks.Settings { return i.subject.Settings }

// Replace puts other data in the place of those learned from.
func (i *Inspector) Replace(d *datasets.Dataset) { i.subject = &prepare.Subject{Data: d} }

// Hold lets no question be answered until release is called.
func (i *Inspector) Hold() (release func()) {
	i.turn <- struct{}{}
	return func() { <-i.turn }
}

// Lane is the first of a predictor's inspectors.
func (p *Predictor) Lane() *Inspector { return p.run }
