package record

import (
	"math"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/vbks"
)

// Evaluation converts an evaluation to the units of the data.
func (s *Start) Evaluation(e *vbks.Evaluation, planned int) *Evaluation {
	out := &Evaluation{
		Index: e.Index, Planned: planned, Proportion: e.Proportion, RowsSeen: e.RowsSeen, Inducing: e.Inducing,
		Objective: files.Number(e.Objective), Kernels: make([]Kernel, len(e.Kernels)), Calibration: e.Calibration, Noise: e.Noise,
		Front: e.Front,
	}
	for i := range e.Kernels {
		k := &e.Kernels[i]
		out.Kernels[i] = Kernel{ID: k.ID, Status: k.Status, Reason: k.Reason}
		var point *Point
		if k.PointPosterior != k.Posterior || k.PointBayes != k.Bayes {
			point = &Point{files.Number(k.PointPosterior), files.Number(k.PointBayes)}
		}
		var windows *Windows
		if w := k.Windows; w != nil {
			windows = &Windows{files.Number(w.Nats), files.Number(w.Low), files.Number(w.High), w.Rows}
		}
		if k.LeftOut {
			out.Kernels[i].Left = &Share{files.Number(k.Posterior), files.Number(k.Bayes), point, windows}
		}
		if k.Status != vbks.Live {
			continue
		}
		f := &Fit{
			Posterior: files.Number(k.Posterior), Bayes: files.Number(k.Bayes), ELBO: files.Number(k.ELBO), SE: files.Number(k.SE),
			Rank: k.Rank, Tied: k.Tied, Source: k.Source, Flags: k.Flags, Rows: k.ELBORows, Apart: k.Apart,
			Point: point, Volume: files.Number(k.Volume), Prior: files.Number(k.LogPrior), Windows: windows,
		}
		if b := k.Evidence; b != nil {
			f.Evidence = &Evidence{files.Number(b.Lower), files.Number(b.Upper)}
		}
		layout := s.layout(i, k.ID)
		uncertain := false
		drawn := k.NoiseBetween != [2]float64{}
		for p, v := range k.Params {
			f.Params = append(f.Params, files.Number(layout[p].InUnits(v.Value)))
			if drawn {
				f.between(&layout[p], v.Between)
			}
			f.SD = append(f.SD, files.Number(v.SD))
			uncertain = uncertain || v.SD != 0
		}
		f.Params = append(f.Params, files.Number(k.Noise*layout[len(k.Params)].Scale))
		if drawn {
			f.between(&layout[len(k.Params)], k.NoiseBetween)
		}
		if !uncertain {
			f.SD = nil
		}
		out.Kernels[i].Fit = f
	}
	return out
}

// between adds the interval of the next hyperparameter, which is standardised.
func (f *Fit) between(p *ParamInfo, v [2]float64) {
	low, high := p.InUnits(v[0]), p.InUnits(v[1])
	if low > high { // of an origin, which lies before the data
		low, high = high, low
	}
	if v[0] == v[1] { // it is fixed
		low, high = math.NaN(), math.NaN()
	}
	f.Low, f.High = append(f.Low, files.Number(low)), append(f.High, files.Number(high))
}

// layout is that of a kernel's hyperparameters, which as a rule is at place i.
func (s *Start) layout(i int, id string) []ParamInfo {
	if i < len(s.Kernels) && s.Kernels[i].ID == id {
		return s.Kernels[i].Params
	}
	return s.Kernel(id).Params
}
