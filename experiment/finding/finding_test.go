package finding

import (
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/datasets/transform"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// A table of a run, and how its columns are called.
var (
	days = []datasets.ColumnSummary{{Name: "day", Unit: "d", Role: "input", First: "2022-01-01T00:00:00Z", Max: 1825},
		{Name: "energy", Role: "target", Unit: "kWh"}}
	logged = []datasets.ColumnSummary{days[0], {Name: "energy", Role: "target", Transform: transform.Transform{Name: transform.Log}}}
	steps  = []datasets.ColumnSummary{{Name: "x", Role: "input", Max: 300}, {Name: "y", Role: "target", SD: 2}}
	room   = []datasets.ColumnSummary{{Name: "sun", Unit: "W", Role: "input"}, {Name: "wind", Unit: "m/s", Role: "input"},
		{Name: "heat", Role: "target", Unit: "K"}}
)

// nats is the log evidence of n standardised targets as a constant and noise, the entropy
// of a normal distribution of variance 1 for each.
func nats(n int) float64 { return -float64(n) * 1.4189385332 }

// scene is a run as it stands, made by hand.
type scene struct {
	columns []datasets.ColumnSummary
	kernel  string
	values  []files.Number // raw parameters, then the noise variance
	rows    int
	above   float64 // nats above a constant and noise
	others  []record.Fit
	change  func(s *record.Standing, leader *record.Fit)
}

func (c *scene) standing(t *testing.T) *record.Standing {
	t.Helper()
	start := &record.Start{Data: &datasets.Summary{Columns: c.columns, Train: c.rows, Test: 50, StandardiseY: "full"}}
	info, _ := describe(t, start, c.kernel, false, nil)
	start.Kernels = []record.KernelInfo{*info}
	elbo := files.Number(nats(c.rows) + c.above)
	e := &record.Evaluation{Index: 5, Planned: 5, Proportion: 1, RowsSeen: c.rows, Kernels: []record.Kernel{{ID: info.ID, Status: vbks.Live,
		Fit: &record.Fit{Rank: 1, Posterior: 0.62, ELBO: elbo, Params: c.values, Evidence: &record.Evidence{Lower: elbo, Upper: elbo + 0.1}}}}}
	if !slices.ContainsFunc(c.others, func(o record.Fit) bool { return !o.Apart }) {
		e.Kernels[0].Fit.Posterior = 0.97
	}
	for i, o := range c.others {
		id := "CONST" + strings.Repeat("+CONST", i)
		start.Kernels = append(start.Kernels, record.KernelInfo{ID: id, Name: id})
		o.Rank, o.ELBO = i+2, elbo+o.ELBO
		if o.Evidence != nil {
			o.Evidence = &record.Evidence{Lower: o.ELBO, Upper: o.ELBO + o.Evidence.Upper}
		}
		e.Kernels = append(e.Kernels, record.Kernel{ID: id, Status: vbks.Live, Fit: &o})
	}
	s := &record.Standing{State: record.Finished, Start: start, Evaluation: e, Inducing: []int{64},
		Lead: record.Lead{Kernel: info.ID, Since: 0.45, Changes: 1}}
	if c.change != nil {
		c.change(s, e.Kernels[0].Fit)
	}
	return s
}

// scored adds scores of held-out rows: of the average, and of baselines by CRPS.
func scored(s *record.Standing, task string, own, coverage float64, baselines ...record.Baseline) {
	rows := s.Start.Data.Test
	s.Metrics = []record.Metric{{Method: config.MethodAverage, TestRows: rows, CRPS: files.Number(own), RMSE: files.Number(2 * own),
		Coverage95: files.Number(coverage)}}
	if baselines != nil {
		s.Start.Baselines = &record.Baselines{Task: task, Rows: rows, Methods: baselines}
	}
}

func baseline(method, label string, crps float64) record.Baseline {
	return record.Baseline{Method: method, Label: label, Score: &record.BaselineScore{CRPS: files.Number(crps)}}
}

// Sentences on ten tables, written from what the tables are made of.
func TestGoldenSentences(t *testing.T) {
	equal := record.Fit{Tied: true, ELBO: -0.5}
	apart := record.Fit{Apart: true, ELBO: -40, Evidence: &record.Evidence{Upper: 3}}
	open := record.Fit{ELBO: -4, Evidence: &record.Evidence{Upper: 9}}
	for _, c := range []struct {
		what  string
		scene scene
		want  string
	}{
		{"a year on a wandering level, which nothing tells from three others",
			scene{days, "PER+RW", []files.Number{100, 1, 365.2, 0.1, 1825, 4}, 1500, 900, []record.Fit{equal, equal, equal, apart},
				func(s *record.Standing, _ *record.Fit) {
					s.Start.Data.Series = &datasets.Series{}
					scored(s, record.TaskForecast, 69, 0.93, baseline("snaive", "seasonal naive", 100), baseline("theta", "Theta", 90))
				}},
			"A pattern that repeats every year, on a level that wanders (PER + RW). It leads since 45 % of the data, with " +
				"62 % of the belief (q*); not settled: three others cannot be told from it. Forecasts 31 % better than seasonal " +
				"naive and 23 % better than the best of 2 baselines, Theta (CRPS). 93 % of 50 held-out rows in the 95 % interval. " +
				"Next: kestrel predict runs/a --horizon 50 averages over kernels, the four that cannot be told apart among them; more rows may " +
				"tell them apart."},
		{"a level that wanders, with little of the belief",
			scene{days, "PER+RW", []files.Number{100, 1, 365.2, 0.1, 1825, 4}, 1500, 900,
				[]record.Fit{{Tied: true, ELBO: -0.5, Posterior: 0.1}, {Apart: true, ELBO: -2, Posterior: 0.4},
					{Apart: true, ELBO: -2, Posterior: 0.38}},
				func(_ *record.Standing, f *record.Fit) { f.Posterior = 0.12 }},
			"A pattern that repeats every year, on a level that wanders (PER + RW). It leads since 45 % of the data, with " +
				"12 % of the belief (q*); not settled: one other cannot be told from it and 78 % of the belief is with kernels behind it. " +
				"Next: kestrel predict runs/a --data new.csv averages over kernels, the two that cannot be told apart among them; more rows " +
				"may tell them apart."},
		{"a level that wanders, and what bounds tell from it by less than a nat",
			scene{days, "PER+RW", []files.Number{100, 1, 365.2, 0.1, 1825, 4}, 1500, 900,
				[]record.Fit{{Tied: true, ELBO: -0.5, Apart: true}, {Apart: true, ELBO: -40}},
				nil},
			"A pattern that repeats every year, on a level that wanders (PER + RW). It leads since 45 % of the data, with " +
				"97 % of the belief (q*); not settled: one other is within a nat of it. " +
				"Next: kestrel predict runs/a --data new.csv averages over kernels, the two that cannot be told apart among them; more rows " +
				"may tell them apart."},
		{"noise", scene{steps, "SE", []files.Number{0.01, 3, 4}, 200, 2, []record.Fit{equal, equal},
			func(s *record.Standing, _ *record.Fit) {
				scored(s, record.TaskRegression, 1, 0.94, baseline("lsq", "least squares", 1))
			}},
			"Nothing repeats, grows or wanders: only chance. The best of 3 kernels is 2.0 nats likelier than " +
				"that, which is too little. The CRPS of predictions is equal to that of least squares. 94 % of 50 held-out rows in the 95 % " +
				"interval. " +
				"Next: another column or more rows; the mean is as good a prediction."},
		{"noise between rows, where a line from row to row is worse than a constant", scene{steps, "SE", []files.Number{0.01, 3, 4}, 200, 2,
			[]record.Fit{equal, equal}, func(s *record.Standing, _ *record.Fit) {
				scored(s, record.TaskRegression, 1.03, 0.94, baseline("lsq", "least squares", 1.5), baseline("mean", "mean of the training rows", 1))
			}},
			"Nothing repeats, grows or wanders: only chance. The best of 3 kernels is 2.0 nats likelier than " +
				"that, which is too little. Predicts 3 % worse than mean of the training rows, the best of 2 baselines (CRPS). 94 % of 50 " +
				"held-out rows in the " +
				"95 % interval. Next: another column or more rows; the mean is as good a prediction."},
		{"a wave that a few rows far out hide", scene{steps, "SE", []files.Number{0.01, 3, 4}, 200, 2, []record.Fit{equal, equal},
			func(s *record.Standing, _ *record.Fit) {
				scored(s, record.TaskRegression, 1, 0.96, baseline("lsq", "least squares", 1.5))
				s.Metrics[0].Coverage50 = 0.94
			}},
			"Nothing repeats, grows or wanders: only chance. But 94 % of the held-out rows lie in intervals for 50 %: " +
				"a few rows far out may hide what there is. The best of 3 kernels is 2.0 nats likelier than " +
				"that, which is too little. Predicts 33 % better than least squares (CRPS). 96 % of 50 held-out rows in the 95 % interval. " +
				"Next: kestrel run " +
				"runs/a/config.toml --set kernels.likelihood=auto looks for rows that are far out, and counts them for little."},
		{"a constant leads", scene{steps, "CONST", []files.Number{1, 4}, 300, -1, []record.Fit{apart}, nil},
			"Nothing repeats, grows or wanders: only chance. The best of 2 kernels tells no more than that. " +
				"Next: another column or more rows; the mean is as good a prediction."},
		{"not to be trusted: the same rows twice, worse than what needs no thought, intervals that miss",
			scene{steps, "SE", []files.Number{4, 3, 0.0001}, 300, 400, []record.Fit{apart}, func(s *record.Standing, f *record.Fit) {
				f.Flags = []vbks.Flag{vbks.NoiseAtFloor}
				scored(s, record.TaskForecast, 2.5, 0.3, baseline("naive", "naive", 1))
			}},
			"A smooth variation over about 3 (x) (SE). Do not trust it: the noise is at its floor, as of rows that repeat or were " +
				"computed; its intervals are too narrow; it predicts worse than naive. It leads since 45 % of the data, with 97 % " +
				"of the belief (q*); settled among the two kernels tried. Forecasts 150 % worse than naive (CRPS). 30 % of 50 held-out rows in " +
				"the 95 % " +
				"interval: too narrow. Next: look for rows that repeat; noise that is known can be stated (hyperparameters)."},
		{"a week that changes over years, found at once",
			scene{days, "PER*SE", []files.Number{9, 1, 7, 1, 800, 1}, 1500, 700, []record.Fit{apart}, func(s *record.Standing, f *record.Fit) {
				f.Posterior, s.Lead.Changes, s.Start.Data.Series = 0.997, 0, &datasets.Series{}
				scored(s, record.TaskGaps, 50, 0.95, baseline("linear", "linear interpolation", 100))
			}},
			"A pattern that repeats every 7 days, changing over about 2.2 years (PER×SE). It leads from the first evaluation " +
				"on, with 99.7 % of the belief (q*); settled among the two kernels tried. Fills gaps between rows 50 % better than linear " +
				"interpolation (CRPS); of the time to come that says nothing. 95 % of 50 held-out rows in the 95 % interval. Next: kestrel " +
				"predict runs/a --horizon 150 forecasts beyond the end."},
		{"a week that changes more slowly than anybody has seen",
			scene{days, "PER*SE", []files.Number{9, 1, 7, 1, 2000, 1}, 1500, 700, []record.Fit{apart}, func(s *record.Standing, f *record.Fit) {
				f.Posterior, s.Lead.Changes, s.Start.Data.Series = 0.997, 0, &datasets.Series{}
				scored(s, record.TaskForecast, 50, 0.95, baseline("snaive", "seasonal naive", 100))
			}},
			"A pattern that repeats every 7 days, slowly changing (PER×SE). It leads from the first evaluation on, with 99.7 % of the " +
				"belief (q*); settled among the two kernels tried. Forecasts 50 % better than seasonal naive (CRPS). 95 % of 50 held-out " +
				"rows in the 95 % interval. Next: kestrel predict runs/a --horizon 50 forecasts beyond the end."},
		{"a shop's week on a rise, and what its data show of the week and not of the day", scene{days, "PER+LIN",
			[]files.Number{100, 1, 7.002, 0.0001, 1, 4}, 1500, 900, []record.Fit{apart}, func(s *record.Standing, _ *record.Fit) {
				s.Start.Data.Rhythms = []datasets.Rhythm{{Every: "week", High: "Saturday", Low: "Monday"}}
			}},
			"A pattern that repeats every 7 days, highest on Saturdays and lowest on Mondays, on a straight line (PER + LIN). It leads since " +
				"45 % of the data, with 97 % of the belief (q*); settled among the two kernels tried. Next: kestrel predict runs/a --data " +
				"new.csv predicts at other rows."},
		{"a year, high in summer", scene{days, "PER", []files.Number{9, 1, 365.2, 1}, 1500, 900, []record.Fit{apart},
			func(s *record.Standing, _ *record.Fit) {
				s.Start.Data.Rhythms = []datasets.Rhythm{{Every: "week", High: "Sunday", Low: "Monday"}, {Every: "year", High: "July", Low: "January"}}
			}},
			"A pattern that repeats every year, highest in July and lowest in January (PER). It leads since 45 % of the data, with 97 % " +
				"of the belief (q*); settled among the two kernels tried. Next: kestrel predict runs/a --data new.csv predicts at other rows."},
		{"a day whose size would change over ages, on a drift", scene{days, "PER*SE+SE",
			[]files.Number{9, 1, 1, 1, 6000, 400, 9000, 1}, 1500, 700, []record.Fit{apart},
			func(s *record.Standing, _ *record.Fit) { s.Lead.Since = 0.2 }},
			"A pattern that repeats every 24 h, on a drift longer than the data (PER×SE + SE). It leads since 20 % of the " +
				"data, with 97 % of the belief (q*); settled among the two kernels tried. Next: kestrel predict runs/a --data new.csv predicts " +
				"at other rows."},
		{"a cycle and a wander whose swings grow, five kernels of equal worth", scene{steps, "LIN*PER+LIN*RQ",
			[]files.Number{1, 1, 12, 1, 1, 1, 1, 4, 20, 1, 1}, 300, 200, []record.Fit{equal, equal, equal, equal}, nil},
			"A pattern that repeats every 12 (x), growing, on a variation on many scales about 20 (x), growing (PER×LIN + LIN×RQ). It " +
				"leads since 45 % of the data, with 62 % of the belief (q*); not settled: four others cannot be told from it. " +
				"Next: kestrel predict runs/a --data new.csv averages over kernels, the five that cannot be told apart among them; more rows may " +
				"tell them apart."},
		{"a line, nothing held out", scene{steps, "LIN", []files.Number{1, 1, 1}, 100, 60, nil, func(s *record.Standing, _ *record.Fit) {
			s.Start.Data.Test = 0
		}},
			"A straight line (LIN). It is the only kernel that was compared. No rows were held out, so its error is not known. " +
				"Next: kestrel run runs/a/config.toml --set data.test=0.1 holds rows out to learn its error."},
		{"a week whose ascent was cut short, and which was scored", scene{days, "PER*SE", []files.Number{9, 1, 7, 1, 800, 1}, 1500, 700,
			[]record.Fit{apart}, func(s *record.Standing, f *record.Fit) {
				f.Flags = []vbks.Flag{vbks.StillMoving}
				scored(s, record.TaskForecast, 50, 0.95, baseline("snaive", "seasonal naive", 100))
			}},
			"A pattern that repeats every 7 days, changing over about 2.2 years (PER×SE). It leads since 45 % of the data, with 97 % of the " +
				"belief (q*); settled among the two kernels tried, though its hyperparameters have not quite come to rest. Forecasts 50 % better " +
				"than seasonal naive (CRPS). 95 % of 50 held-out rows in the 95 % interval. Next: kestrel predict runs/a " +
				"--data new.csv predicts at other rows."},
		{"a period as long as the data", scene{days, "LIN+PER", []files.Number{100, 1, 1500, 1, 1, 4}, 1500, 800, []record.Fit{apart},
			func(_ *record.Standing, f *record.Fit) { f.Flags = []vbks.Flag{vbks.PeriodOnce} }},
			"A straight line, with what may be a pattern that repeats every 4.11 years (PER + LIN). But a period is seen less " +
				"than twice and may be none. It leads since 45 % of the data, with 97 % of the belief (q*); settled among the two kernels " +
				"tried. Next: rows " +
				"over two of its periods, or a bound on the period (hyperparameters)."},
		{"two causes, bounds too wide to tell", scene{room, "SE[sun]+LIN[wind]", []files.Number{1, 1, 9, 200, 1}, 2000, 900,
			[]record.Fit{open, open, apart}, func(s *record.Standing, _ *record.Fit) {
				scored(s, record.TaskRegression, 0.8, 0.96)
			}},
			"heat: a straight line in wind and a smooth variation in sun over about 200 W (LIN[wind] + SE[sun]). It leads since 45 % " +
				"of the data, with 62 % of the belief (q*); not settled: two others may yet be better (bounds too wide). Its error " +
				"on 50 held-out rows is 1.6 K (RMSE). 96 % of 50 held-out rows in the 95 % interval. Next: re-optimise (kestrel " +
				"resume runs/a, then r) the first three with 128 inducing inputs."},
		{"half of it is in, learned as its logarithm", scene{logged, "RW", []files.Number{0.01, 1825, 4}, 1500, 900, []record.Fit{equal},
			func(s *record.Standing, _ *record.Fit) {
				s.State, s.Evaluation.Proportion, s.Evaluation.RowsSeen = record.Running, 0.5, 750
			}},
			"So far, with 50 % of the rows: a level that wanders, of log energy (RW). It leads since 45 % of the data, with 62 " +
				"% of the belief (q*); not settled: one other cannot be told from it. Next: wait for the other 50 % of the data."},
		{"a third is in, and all kernels are equal", scene{steps, "PER", []files.Number{1, 1, 23.2, 4}, 135, 9, []record.Fit{equal, equal},
			func(s *record.Standing, f *record.Fit) {
				s.State, s.Evaluation.Proportion, s.Evaluation.RowsSeen, f.Posterior = record.Running, 0.3, 45, 0.4
			}},
			"Too early to tell, with 30 % of the rows; first is a pattern that repeats every 23.2 (x) (PER). It leads since 45 % " +
				"of the data, with 40 % of the belief (q*); not settled: two others cannot be told from it. Next: wait for the " +
				"other 70 % of the data."},
		{"nine rows", scene{steps, "SE", []files.Number{1, 2, 0.04}, 9, 9, []record.Fit{equal}, func(s *record.Standing, _ *record.Fit) {
			s.Start.Data.Test = 0
		}},
			"A smooth variation over about 2 (x) (SE). Do not trust it: 9 rows are few for 3 hyperparameters. It leads since 45 % " +
				"of the data, with 62 % of the belief (q*); not settled: one other cannot be told from it. No rows were held out, " +
				"so its error is not known. Next: kestrel run runs/a/config.toml --set data.test=0.1 holds rows out to learn its " +
				"error."},
	} {
		if got := Of(c.scene.standing(t), "runs/a").Text(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

// What explains little comes behind what explains much, what explains nothing not at
// all, and nothing is said to be known that is not. Sizes by hand: of a function along a
// range T, σ² of PER and of SE over far less than T, σ²T²/12ℓ² of SE over far more, σ²T/6
// of RW.
func TestGoldenWeights(t *testing.T) {
	apart := record.Fit{Apart: true, ELBO: -40, Evidence: &record.Evidence{Upper: 3}}
	open := record.Fit{ELBO: -4, Evidence: &record.Evidence{Upper: 9}}
	behind := []record.Fit{apart, apart}
	hall := []datasets.ColumnSummary{{Name: "sun", Role: "input", Max: 400},
		{Name: "wind", Role: "input", Max: 50}, {Name: "heat", Role: "target"}}
	running := func(share float64, rows int) func(*record.Standing, *record.Fit) {
		return func(s *record.Standing, _ *record.Fit) {
			s.State, s.Evaluation.Proportion, s.Evaluation.RowsSeen, s.Lead.Changes = record.Running, share, rows, 0
		}
	}
	for _, c := range []struct {
		what  string
		scene scene
		want  string
	}{
		{"of three kernels none is equal, and the first has two thirds", scene{steps, "SE", []files.Number{4, 3, 0.01}, 300, 400, behind,
			func(_ *record.Standing, f *record.Fit) { f.Posterior = 0.67 }},
			"A smooth variation over about 3 (x) (SE). It leads since 45 % of the data, with 67 % of the belief (q*); not settled: " +
				"the other 33 % is with kernels behind it. Next: kestrel predict runs/a --data new.csv averages over kernels, " +
				"each with its weight; more rows may tell which is best."},
		{"carbon dioxide: years of 3 ppm on a rise of 30", scene{days, "SE+PER", []files.Number{9, 1, 365.25, 900, 300, 0.04},
			500, 900, behind, nil},
			"A smooth variation over about 300 days, with a small pattern that repeats every year (PER + SE). It leads " +
				"since 45 % of the data, with 97 % of the belief (q*); settled among the three kernels tried. Next: kestrel predict runs/a " +
				"--data new.csv " +
				"predicts at other rows."},
		{"a week larger than a day", scene{days, "PER+PER", []files.Number{4, 1, 1, 9, 1, 7, 1}, 1500, 900, behind, nil},
			"A pattern that repeats every 7 days and a pattern that repeats every 24 h (PER + PER). It leads since 45 % of the " +
				"data, with 97 % of the belief (q*); settled among the three kernels tried. Next: kestrel predict runs/a --data new.csv " +
				"predicts at other rows."},
		{"a week that is nothing beside the noise", scene{days, "SE+PER", []files.Number{0.0001, 1, 7, 4, 100, 1}, 1500, 900, behind,
			func(_ *record.Standing, f *record.Fit) { f.Flags = []vbks.Flag{vbks.IdleSummand} }},
			"A smooth variation over about 100 days (PER + SE). But one part explains next to nothing. It leads since 45 % of " +
				"the data, with 97 % of the belief (q*); settled among the three kernels tried. Next: kestrel predict runs/a --data new.csv " +
				"predicts at other " +
				"rows."},
		{"a level of 100 with a year of 3 on it", scene{days, "SE+PER", []files.Number{9, 1, 365.25, 1e4, 182500, 1}, 1500, 900, behind, nil},
			"A pattern that repeats every year, with a small drift longer than the data (PER + SE). It leads since 45 % of " +
				"the data, with 97 % of the belief (q*); settled among the three kernels tried. Next: kestrel predict runs/a --data new.csv " +
				"predicts at other " +
				"rows."},
		{"a constant leads at a tenth", scene{steps, "CONST", []files.Number{1, 4}, 300, -1, behind, running(0.1, 30)},
			"Too early to tell, with 10 % of the rows; so far nothing repeats, grows or wanders: only chance. Next: " +
				"wait for the other 90 % of the data."},
		{"a constant leads at four fifths", scene{steps, "CONST", []files.Number{1, 4}, 300, -1, behind, running(0.8, 240)},
			"So far, with 80 % of the rows: nothing repeats, grows or wanders: only chance. Next: wait for the other " +
				"20 % of the data."},
		{"a constant leads, the bounds of others are wide", scene{steps, "CONST", []files.Number{1, 4}, 300, -1, []record.Fit{open, open}, nil},
			"Nothing repeats, grows or wanders: only chance. The best of 3 kernels tells no more than that; " +
				"not settled: two others may yet be better (bounds too wide). Next: re-optimise (kestrel resume runs/a, then r) " +
				"the first three with 128 inducing inputs."},
		{"a wave that another one modulates, which is seen once", scene{steps, "PER*PER*LIN", []files.Number{9, 1, 6.22, 1, 1, 250, 1, 1, 0.01},
			300, 400, behind, func(_ *record.Standing, f *record.Fit) { f.Flags = []vbks.Flag{vbks.PeriodOnce} }},
			"A pattern that repeats every 6.22 (x), growing (PER×PER×LIN). It leads since 45 % of the data, with 97 % of the " +
				"belief (q*); settled among the three kernels tried. Next: kestrel predict runs/a --data new.csv predicts at other rows."},
		{"periods in two columns, seen once", scene{hall, "PER", []files.Number{4, 1, 300, 40, 1}, 300, 400, behind,
			func(_ *record.Standing, f *record.Fit) { f.Flags = []vbks.Flag{vbks.PeriodOnce} }},
			"heat: a variation in all inputs (PER). It leads since 45 % of the data, with 97 % of the belief (q*); settled among the three " +
				"kernels tried. Next: " +
				"kestrel predict runs/a --data new.csv predicts at other rows; new.csv with the " +
				"columns sun, wind."},
		{"a tenth is in, and the baseline has seen all", scene{steps, "SE", []files.Number{4, 3, 0.01}, 300, 0, behind,
			func(s *record.Standing, f *record.Fit) {
				running(0.1, 30)(s, f)
				scored(s, record.TaskForecast, 4, 0.3, baseline("naive", "naive", 1))
			}},
			"So far, with 10 % of the rows: a smooth variation over about 3 (x) (SE). It leads from the first evaluation on, with " +
				"97 % of the belief (q*); not settled. So far the CRPS of forecasts is 4 times that of naive. 30 % of 50 held-out " +
				"rows in the 95 % interval: too narrow. Next: wait for the other 90 % of the data."},
		{"all rows are in, and two rungs are to come", scene{steps, "SE", []files.Number{4, 3, 0.01}, 300, 400, behind,
			func(s *record.Standing, _ *record.Fit) { s.State, s.Evaluation.Planned = record.Running, 7 }},
			"So far, with 2 evaluations to come: a smooth variation over about 3 (x) (SE). It leads since 45 % of the data, with " +
				"97 % of the belief (q*); not settled. Next: wait for the last evaluations."},
		{"it has come to its end before what was planned", scene{steps, "SE", []files.Number{4, 3, 0.01}, 300, 400, behind,
			func(s *record.Standing, _ *record.Fit) { s.Evaluation.Planned = 7 }},
			"A smooth variation over about 3 (x) (SE). It leads since 45 % of the data, with 97 % of the belief (q*); settled among the three " +
				"kernels tried. " +
				"Next: kestrel predict runs/a --data new.csv predicts at other rows."},
		{"a dozen rows are in", scene{steps, "SE", []files.Number{4, 3, 0.01}, 300, 0, behind, running(0.04, 12)},
			"Too early to tell, with 4 % of the rows; first is a smooth variation over about 3 (x) (SE). It leads from the first " +
				"evaluation on, with 97 % of the belief (q*); not settled. Next: wait for the other 96 % of the data."},
	} {
		if got := Of(c.scene.standing(t), "runs/a").Text(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

// Before there is anything to say nothing is said; where all kernels are gone, that.
func TestNothingYet(t *testing.T) {
	if f := Of(&record.Standing{}, ""); f != (Finding{}) || f.Text() != "" {
		t.Errorf("%+v", f)
	}
	none := &record.Standing{Start: &record.Start{}, Evaluation: &record.Evaluation{Kernels: []record.Kernel{{ID: "SE", Status: vbks.Pruned}}}}
	if got := Of(none, "").Text(); got != "No kernel is left to compare. Next: a config with other kernels." {
		t.Error(got)
	}
}

// A short text says what takes long more briefly, then leaves the least important out,
// and what it has stands in full.
func TestWithin(t *testing.T) {
	f := Finding{What: "A (a).", Sure: "B, b.", Error: "C.", Coverage: "D.", Next: "E e.",
		plain: "A.", high: "A.", calm: "A.", brief: "B.", terse: "B.", named: "a", command: "E."}
	for room, want := range map[int]string{23: "A (a). B, b. C. D. E e.", 22: "A (a). B, b. C. E e.", 19: "A. B, b. C. E e.",
		15: "A. B. C. E e.",
		12: "A. B. C. E.",
		10: "A. B. E.", 7: "A. B.", 4: "A.", 0: "a"} {
		if got := f.Within(func(s string) bool { return len(s) <= room }); got != want {
			t.Errorf("in %d characters %q, want %q", room, got, want)
		}
	}
	f = Finding{What: "A.", plain: "A.", high: "A.", calm: "A.", named: "a", Distrust: "Do not. But look.", wrong: "Do not."}
	if got := f.Within(func(s string) bool { return len(s) <= 9 }); got != "a Do not." {
		t.Errorf("%q: what is wrong is cut before what may be", got)
	}
	f.wrong = ""
	if got := f.Within(func(string) bool { return false }); got != "a Do not. But look." {
		t.Errorf("%q: a doubt is left out that is the only one", got)
	}
	equal := record.Fit{Tied: true, ELBO: -0.5}
	long := scene{days, "PER+RW", []files.Number{100, 1, 365.2, 0.1, 1825, 4}, 1500, 900, []record.Fit{equal}, nil}
	want := "A pattern that repeats every year, on a level that wanders. It leads since 45 % of the data; not settled. "
	if got := Of(long.standing(t), "runs/a").Within(func(s string) bool { return len(s) < 230 }); !strings.HasPrefix(got, want+"Next: ") {
		t.Errorf("briefly: %q", got)
	}
}

// What the prediction is worth beside a baseline stays longer than the command and the
// days of the week, and less long than what the data show and how sure that is.
func TestWithinKeepsTheComparison(t *testing.T) {
	c := scene{days, "PER+LIN", []files.Number{100, 1, 7.002, 0.0001, 1, 4}, 1500, 900, nil, func(s *record.Standing, _ *record.Fit) {
		s.Start.Data.Rhythms = []datasets.Rhythm{{Every: "week", High: "Saturday", Low: "Monday"}}
		s.Start.Data.Series = &datasets.Series{}
		scored(s, record.TaskForecast, 69, 0.93, baseline("snaive", "seasonal naive", 100), baseline("theta", "Theta", 90))
	}}
	f := Of(c.standing(t), "runs/a-rather-long-name/of-a-run")
	const week, sure, worth = "A pattern that repeats every 7 days, highest on Saturdays and lowest on Mondays, on a straight line.",
		"It is the only kernel that was compared.", "Forecasts 31 % better than seasonal naive (CRPS)."
	high, calm := "A pattern that repeats every 7 days, highest on Saturdays, on a straight line.", "A pattern that repeats every 7 "+
		"days, on a straight line."
	for _, want := range []string{
		strings.Join([]string{week, sure, worth, "Next: kestrel predict runs/a-rather-long-name/of-a-run --horizon 50"}, " "),
		strings.Join([]string{week, sure, worth, "Next: kestrel predict RUN --horizon 50"}, " "),
		strings.Join([]string{high, sure, worth, "Next: kestrel predict RUN --horizon 50"}, " "),
		strings.Join([]string{calm, sure, worth, "Next: kestrel predict RUN --horizon 50"}, " "),
		strings.Join([]string{high, sure, worth}, " "), strings.Join([]string{calm, sure, worth}, " "),
		strings.Join([]string{calm, sure, "Next: kestrel predict RUN --horizon 50"}, " "), high + " " + sure, calm + " " + sure, calm,
		"The best description is PER + LIN.",
	} {
		if got := f.Within(func(s string) bool { return len(s) <= len(want) }); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// While a run goes on it may be scored on some of the rows held out, baselines on all: the error stands
// beside theirs, without a factor.
func TestErrorsOnFewerRowsStandBesideTheBaseline(t *testing.T) {
	said := func(rows int) string {
		c := scene{days, "SE", []files.Number{9, 1, 1}, 1500, 20000, []record.Fit{{Tied: true, ELBO: -0.5}},
			func(s *record.Standing, _ *record.Fit) {
				s.State, s.Evaluation.Proportion, s.Evaluation.RowsSeen = record.Running, 0.9, 1350
				linear := baseline("linear", "linear interpolation", 100)
				linear.Score.RMSE = 18.3
				scored(s, record.TaskGaps, 32, 0.93, linear)
				s.Start.Baselines.Rows, s.Metrics[0].TestRows, s.Metrics[0].RMSE = 20000, rows, 113
			}}
		return Of(c.standing(t), "runs/a").Text()
	}
	const want = "error on 2000 held-out rows is 113 kWh (RMSE), that of linear interpolation on all 20000 is 18.3 kWh"
	if got := said(2000); !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := said(20000); strings.Contains(got, "RMSE") || !strings.Contains(got, "better than linear interpolation") {
		t.Errorf("on the same rows: %q", got)
	}
}

// A prediction that the best baseline is ahead of is not praised for want of room, and what
// the data show is told in words to the end: 234 characters are the three lines of 80 columns.
func TestGoldenShortenedSentences(t *testing.T) {
	columns := []datasets.ColumnSummary{{Name: "date", Role: "input", First: days[0].First, Unit: days[0].Unit, Max: days[0].Max},
		{Name: "weather", Role: "input", Levels: []datasets.Level{{Name: "rain"}, {Name: "sun"}, {Name: "snow"}}, Max: 2},
		{Name: "rentals", Role: "target"}}
	c := scene{columns, "PER[date]+LIN[date]+CAT[weather]", []files.Number{9, 1, 365.2, 0.001, 9, 9, 9}, 1500, 900,
		[]record.Fit{{Tied: true, ELBO: -0.5}}, func(s *record.Standing, _ *record.Fit) {
			s.State, s.Evaluation.Proportion, s.Evaluation.RowsSeen, s.Start.Data.Series = record.Running, 0.9, 1350, &datasets.Series{}
			scored(s, record.TaskGaps, 32, 0.93, baseline("linear", "linear least squares", 100),
				baseline("ridge", "ridge regression with levels and the calendar", 31.6))
		}}
	f := Of(c.standing(t), "runs/a")
	const shown, wait = "rentals: so far, with 90 % of the rows: a pattern in date that repeats every year, on a level for each " +
		"value of weather and a straight line in date", "Next: wait for the other 10 % of the data."
	for _, s := range []struct {
		room int
		want string
	}{
		{1000, shown + " (PER[date] + LIN[date] + CAT[weather]). It leads since 45 % of the data, with 62 % of the belief (q*); not settled: " +
			"one other cannot be told from it. So far fills gaps between rows 68 % better than linear least squares, but 1 % worse than " +
			"ridge regression with levels and the calendar (CRPS); of the time to come that says nothing. 93 % of 50 held-out rows in the 95 % " +
			"interval. " + wait},
		{420, shown + ". It leads since 45 % of the data; not settled. So far fills gaps between rows 68 % better than linear least " +
			"squares, but 1 % worse than the best of 2 baselines (CRPS). " + wait},
		{312, shown + ". Not settled. So far fills gaps between rows 1 % worse than the best of 2 baselines (CRPS). " + wait},
		{234, shown + ". Not settled. " + wait}, {200, shown + ". Not settled."}, {156, shown + "."},
		{100, "So far, with 90 % of the rows: the best description is PER[date] + LIN[date] + CAT[weather]."},
	} {
		if got := f.Within(func(text string) bool { return len(text) <= s.room }); got != s.want {
			t.Errorf("in %d characters:\n%s\nwant\n%s", s.room, got, s.want)
		}
		if told := f.Tells(f.Shortened(func(text string) bool { return len(text) <= s.room })); told != (s.room > 300) {
			t.Errorf("in %d characters: all is told: %v", s.room, told)
		}
	}
}

// Whoever reads that a kernel is settled reads there and then that its hyperparameters are not, where
// they are not, however little room there is; where nothing was held out to say what they are good for,
// nothing is settled. Of noise nobody cares.
func TestSettledButForWhatMoves(t *testing.T) {
	apart := record.Fit{Apart: true, ELBO: -40, Evidence: &record.Evidence{Upper: 3}}
	equal := record.Fit{Tied: true, ELBO: -0.5}
	moves := func(held bool) func(*record.Standing, *record.Fit) {
		return func(s *record.Standing, f *record.Fit) {
			if f.Flags = []vbks.Flag{vbks.StillMoving}; held {
				scored(s, record.TaskForecast, 50, 0.95, baseline("snaive", "seasonal naive", 100))
			}
		}
	}
	for _, c := range []struct {
		what    string
		above   float64
		others  []record.Fit
		held    bool
		settled bool
		want    string
	}{
		{"settled", 700, []record.Fit{apart}, true, true,
			"; settled among the two kernels tried, though its hyperparameters have not quite come to rest."},
		{"equal", 700, []record.Fit{equal}, true, false,
			"not settled: one other cannot be told from it and its hyperparameters have not quite come to rest."},
		{"alone", 700, nil, true, true, "It is the only kernel that was compared; its hyperparameters have not quite come to rest."},
		{"nothing held out", 700, []record.Fit{apart}, false, false, "Do not trust it: its hyperparameters have not come to rest."},
		{"noise", 2, []record.Fit{equal}, true, true, "Nothing repeats, grows or wanders: only chance"},
	} {
		s := scene{steps, "SE", []files.Number{9, 1, 7}, 1500, c.above, c.others, moves(c.held)}
		f := Of(s.standing(t), "runs/a")
		if text := f.Text(); f.Settled != c.settled || !strings.Contains(text, c.want) || strings.Count(text, "hyperparameters") > 1 {
			t.Errorf("%s: settled %v: %s", c.what, f.Settled, text)
		}
		for room := range 500 {
			text := strings.ToLower(f.Within(func(s string) bool { return len(s) <= room }))
			if strings.Contains(strings.ReplaceAll(text, "not settled", ""), "settled") && !strings.Contains(text, "hyperparameters") {
				t.Errorf("%s, in %d characters: %s", c.what, room, text)
			}
			if c.what == "noise" && strings.Contains(text, "hyperparameters") {
				t.Errorf("of noise it says %s", text)
			}
		}
	}
}

// However little room there is, nobody reads what was found without reading that a baseline is clearly
// better; one that is hardly better, or that has seen rows which the run has not, is no warning.
func TestABetterBaselineIsAlwaysSaid(t *testing.T) {
	apart := record.Fit{Apart: true, ELBO: -40, Evidence: &record.Evidence{Upper: 3}}
	for _, c := range []struct {
		own, naive, theta float64
		label, want       string
		whole             bool
	}{
		{69, 100, 60, "Theta", "Theta", true},
		{69, 66, 60, "Theta", "Theta", true},
		{69, 50, 60, "Theta", "worse than naive", true}, // not to be trusted
		{69, 100, 60, "ridge regression with levels and the calendar", "baseline", true},
		{69, 100, 68, "Theta", "", true},
		{69, 100, 60, "Theta", "", false},
	} {
		s := scene{days, "PER+LIN", []files.Number{100, 1, 7.002, 0.0001, 1, 4}, 1500, 900, []record.Fit{apart},
			func(s *record.Standing, _ *record.Fit) {
				s.Start.Data.Series = &datasets.Series{}
				scored(s, record.TaskForecast, c.own, 0.93, baseline("naive", "naive", c.naive), baseline("theta", c.label, c.theta))
				if !c.whole {
					s.State, s.Evaluation.Proportion = record.Running, 0.9
				}
			}}
		f := Of(s.standing(t), "runs/a")
		if f.Warns() != (c.want != "") {
			t.Errorf("%+v: warns: %v", c, f.Warns())
		}
		instead := strings.Contains(f.Next, c.label+", which did better here") && strings.Contains(f.Command, "--method theta") ||
			strings.HasSuffix(f.Command, "--method naive")
		if instead != f.Warns() {
			t.Errorf("%+v: %s", c, f.Next)
		}
		for room := range 600 {
			got := f.Within(func(s string) bool { return len(s) <= room })
			said := strings.Contains(got, c.want) || strings.Contains(got, c.label) || strings.Contains(got, "best of 2 baselines")
			if c.want != "" && !said {
				t.Fatalf("%+v, in %d characters: %s", c, room, got)
			}
		}
	}
}

// The log evidence of a constant and noise is that of the normal distribution.
func TestAboveNothing(t *testing.T) {
	c := scene{columns: steps, kernel: "SE", values: []files.Number{1, 1, 1}, rows: 4, above: 0}
	s := c.standing(t)
	want := 0.0
	for _, y := range []float64{-1, 1, -1, 1} { // of mean 0 and variance 1
		want += math.Log(math.Exp(-y*y/2) / math.Sqrt(2*math.Pi))
	}
	s.Evaluation.Kernels[0].Fit.ELBO = files.Number(want + 3)
	if gain, ok := aboveNothing(s, s.Evaluation.Leader()); !ok || math.Abs(gain-3) > 1e-12 {
		t.Errorf("%v nats above nothing, want 3", gain)
	}
}

// Advice can be followed: no more inducing inputs than there are rows, and for a run of
// which nobody says where it lies its place in the command.
func TestAdviceCanBeFollowed(t *testing.T) {
	open := record.Fit{ELBO: -4, Evidence: &record.Evidence{Upper: 9}}
	c := scene{room, "SE[sun]+LIN[wind]", []files.Number{1, 1, 9, 200, 1}, 64, 90, []record.Fit{open}, nil}
	if got := Of(c.standing(t), "").Next; strings.Contains(got, "inducing") || !strings.Contains(got, " RUN ") {
		t.Error(got)
	}
}
