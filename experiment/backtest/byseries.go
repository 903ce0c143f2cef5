package backtest

import (
	"strconv"

	"example.com/kestrel/experiment/files"
)

// SeriesScores is how the methods did in one series.
type SeriesScores struct {
	Series  string   `json:"series"`
	Origins int      `json:"origins"`
	Season  int      `json:"season"`  // in steps, at the last origin
	Methods []Scores `json:"methods"` // in the order of Methods
	Best    string   `json:"best"`    // of the least CRPS over all that it has forecast; "": none has
	Verdict string   `json:"verdict"` // on kestrel's forecasts; "": there is nothing to compare
}

// bySeries scores forecasts, which stand together, series by series.
func bySeries(rows []Row) (out []SeriesScores, err error) {
	for len(rows) > 0 {
		n, origins := 1, map[int]bool{}
		for n < len(rows) && rows[n].Series == rows[0].Series {
			n++
		}
		for i := range rows[:n] {
			origins[rows[i].Origin] = true
		}
		s := SeriesScores{Series: rows[0].Series, Origins: len(origins), Season: rows[n-1].Season}
		if s.Methods, err = Summarise(rows[:n], 0); err != nil {
			return nil, err
		}
		least := -1
		for m := range s.Methods {
			if s.Methods[m].Series > 0 && (least < 0 || s.Methods[m].CRPS < s.Methods[least].CRPS) {
				least = m
			}
		}
		if least >= 0 {
			s.Best = s.Methods[least].Method
		}
		reference := reference(rows[:n])
		if s.Methods[0].Series > 0 {
			s.Verdict = worth(s.Methods, reference, labelOf(reference))
		}
		out, rows = append(out, s), rows[n:]
	}
	return out, nil
}

func seriesColumns() []string {
	names := []string{"series", "origins", "season"}
	for _, m := range Methods() {
		names = append(names, "crps_"+m)
	}
	return append(names, "best", "kestrel_relative_crps", "kestrel_mase",
		"kestrel_smape", "kestrel_coverage80", "kestrel_coverage95", "verdict")
}

func (r *Result) seriesRows() [][]string {
	rows := [][]string{seriesColumns()}
	for i := range r.BySeries {
		s := &r.BySeries[i]
		row := []string{s.Series, strconv.Itoa(s.Origins), strconv.Itoa(s.Season)}
		for m := range s.Methods {
			row = append(row, s.Methods[m].CRPS.Known(""))
		}
		own := &s.Methods[0]
		row = append(row, s.Best)
		for _, v := range []files.Number{own.Relative, own.MASE, own.SMAPE, own.Coverage80, own.Coverage95} {
			row = append(row, v.Known(""))
		}
		rows = append(rows, append(row, s.Verdict))
	}
	return rows
}
