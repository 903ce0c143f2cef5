package history

import (
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
)

// BestBaseline returns the best baseline by what methods are scored by, its name for
// people and its score on all test rows; false where there is none, or q is another
// quantity.
func (h *History) BestBaseline(q Quantity) (label string, score float64, ok bool) {
	of := map[Quantity]func(*record.BaselineScore) files.Number{
		QuantityRMSE: func(s *record.BaselineScore) files.Number { return s.RMSE },
		QuantityMAE:  func(s *record.BaselineScore) files.Number { return s.MAE },
		QuantityNLPD: func(s *record.BaselineScore) files.Number { return s.NLPD },
	}[q]
	if of == nil || h.Start == nil {
		return "", 0, false
	}
	best := h.Start.Baselines.Best(of)
	if best == nil {
		return "", 0, false
	}
	return best.Label, float64(of(best.Score)), true
}
