package finding

import (
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// rival is a kernel beside the leader, and the belief in it.
type rival struct {
	kernel string
	values []files.Number // nil: it has been left out
	belief files.Number
}

// among adds rivals to a scene.
func among(t *testing.T, own files.Number, tied int, rivals ...rival) func(*record.Standing, *record.Fit) {
	return func(s *record.Standing, f *record.Fit) {
		f.Posterior = own
		for i, r := range rivals {
			info, _ := describe(t, s.Start, r.kernel, false, nil)
			s.Start.Kernels = append(s.Start.Kernels, *info)
			k := record.Kernel{ID: info.ID, Status: vbks.Live}
			if r.values == nil {
				k.Status, k.Left = vbks.Pruned, &record.Share{Posterior: r.belief}
			} else {
				k.Fit = &record.Fit{Rank: i + 2, Tied: i < tied, Apart: i >= tied, Posterior: r.belief, ELBO: f.ELBO - 1, Params: r.values}
			}
			s.Evaluation.Kernels = append(s.Evaluation.Kernels, k)
		}
	}
}

// How sure is said of what the likely kernels share: of the parts of the first one, and of columns. What few of them have, or what
// may be nothing, is not said as if it were found.
func TestGoldenShared(t *testing.T) {
	year := []files.Number{100, 1, 366, 0.0001, 1, 4} // PER+LIN
	wave := func(period files.Number) []files.Number { return []files.Number{100, 1, period, 0.1, 1825, 4} }
	kiln := []datasets.ColumnSummary{{Name: "oven", Role: "input", Min: 760, Max: 880, Mean: 820, SD: 35},
		{Name: "damp", Role: "input", Max: 70, SD: 12}, {Name: "glaze", Role: "input", Levels: make([]datasets.Level, 2), Max: 1, Distinct: 2},
		{Name: "gloss", Role: "target"}}
	swing := func(mean files.Number) func(*record.Standing) {
		return func(s *record.Standing) {
			s.Effects = &record.Effects{Evaluation: 5, Kernel: s.Evaluation.Kernels[0].ID, All: []record.Effect{
				{Kind: record.EffectSwing, Part: "PER", Column: "day", Mean: mean, SD: 3}}}
		}
	}
	for _, c := range []struct {
		what                string
		scene               scene
		also                func(*record.Standing)
		sentence            string
		brief, terse, notIn string
	}{
		{"a year on a line, which others say in other words", scene{days, "PER+LIN", year, 1500, 900, nil,
			among(t, 0.3, 1, rival{"PER+RW", wave(365), 0.25}, rival{"PER*LIN+LIN", []files.Number{1, 1, 365, 1, 1, 1, 1, 1}, 0.2},
				rival{"PER+LIN+RW", nil, 0.24}, rival{"LIN", []files.Number{1, 1, 1}, 0.01})}, nil,
			"A pattern that repeats every year, on a straight line (PER + LIN). Certain: a yearly pattern and that the level moves; likely: that " +
				"it does so along a straight line (75 % of the belief). Which kernel is best is not settled: this one leads since 45 % of the " +
				"data, with " +
				"30 % of the belief (q*); one other cannot be told from it.",
			"Certain: a yearly pattern and that the level moves; likely: that it does so along a straight line (75 % of the belief).",
			"Certain: a yearly pattern and that the level moves.", "kernels behind it"},
		{"most of the belief is with kernels that were left out", scene{days, "PER+LIN", year, 1500, 900, nil,
			among(t, 0.04, 1, rival{"LIN", []files.Number{1, 1, 1}, 0.02}, rival{"PER+RW", nil, 0.5}, rival{"PER+LIN+RW", nil, 0.41},
				rival{"PER*LIN+LIN", nil, 0.03})}, func(s *record.Standing) { s.Evaluation.Inducing = 512 },
			"A pattern that repeats every year, on a straight line (PER + LIN). Certain: a yearly pattern and that the level moves; likely: that " +
				"it does so along a straight line (50 % of the belief). Which kernel is best is not settled: this one leads since 45 % of the " +
				"data, with 4 % of the belief (q*); one other cannot be told from it and 91 % of the belief is with two others that 512 inducing " +
				"inputs were not tried on. Next: kestrel predict runs/a --data new.csv averages over kernels, each with its weight; a run with " +
				"sparse.inducing=512 compares those left out, too.", "", "", "kernels behind it"},
		{"a week that most have", scene{days, "PER+RW", wave(6.995), 1500, 900, nil,
			among(t, 0.4, 2, rival{"RW", []files.Number{1, 1825, 1}, 0.2}, rival{"PER+LIN", []files.Number{100, 1, 7, 0.1, 1, 4}, 0.3},
				rival{"PER+RW+CONST", []files.Number{100, 1, 11.5, 0.1, 1825, 4, 1}, 0.1})}, swing(40),
			"A pattern that repeats every 7 days (swings by ±40 kWh), on a level that wanders (PER + RW). Certain: that the level moves; " +
				"likely: a " +
				"weekly pattern (70 % of the belief) and that it wanders (70 %). Which",
			"Certain: that the level moves; likely: a weekly pattern (70 % of the belief) and that it wanders (70 %).",
			"Certain: that the level moves.", ""},
		{"a week that may be nothing", scene{days, "PER+RW", wave(6.995), 1500, 900, nil,
			among(t, 0.8, 1, rival{"RW", []files.Number{1, 1825, 1}, 0.2})}, swing(4),
			"Perhaps a pattern that repeats every 7 days, on a level that wanders (PER + RW). Certain: a level that wanders; open: a weekly " +
				"pattern. Which",
			"Certain: a level that wanders; open: a weekly pattern.", "Certain: a level that wanders.", ""},
		{"a week that all have and that may be nothing, beside what wanders or grows", scene{days, "PER+LIN+RW",
			[]files.Number{1, 1, 6.995, 0.0001, 1, 0.1, 1825, 4}, 1500, 900, nil, among(t, 0.5, 1, rival{"PER+LIN", []files.Number{100, 1, 7, 0.1,
				1, 4}, 0.2}, rival{"PER+RW", wave(7), 0.25}, rival{"PER+SE", []files.Number{100, 1, 7, 9, 90, 4}, 0.05})}, swing(4),
			"A level that wanders and a straight line, with perhaps a small pattern that repeats every 7 days (PER + LIN + RW). Certain: that the " +
				"level moves; open: a weekly pattern and how the level moves. Which",
			"Certain: that the level moves; open: a weekly pattern and how the level moves.", "Certain: that the level moves.", "likely"},
		{"what is in doubt comes last", scene{days, "PER+LIN+RW", []files.Number{100, 1, 6.995, 0.0001, 1, 0.1, 1825, 4}, 1500, 900, nil,
			among(t, 0.4, 1, rival{"PER+RW", wave(7), 0.6})}, nil,
			"A pattern that repeats every 7 days, on a level that wanders and perhaps a straight line (PER + LIN + RW). Certain: a weekly " +
				"pattern, a level that wanders and that the level moves; open: that it does so along a straight line", "", "", ""},
		{"a week that few have", scene{days, "PER+RW", wave(6.995), 1500, 900, nil,
			among(t, 0.4, 1, rival{"RW", []files.Number{1, 1825, 1}, 0.6})}, swing(40),
			"Perhaps a pattern that repeats every 7 days (swings by ±40 kWh), on a level that wanders (PER + RW). Certain: a level that wanders; " +
				"open: a weekly pattern (40 % of the belief). Which", "", "", ""},
		{"columns that matter, and one that does not", scene{kiln, "SE[oven]+CAT[glaze]", []files.Number{400, 30, 50, 1}, 300, 900, nil,
			among(t, 0.75, 1, rival{"SE[damp]+SE[oven]+CAT[glaze]", []files.Number{1, 12, 1, 30, 1, 1}, 0.2},
				rival{"SE[oven]", []files.Number{1, 30, 1}, 0.05})}, nil,
			"gloss: a smooth variation in oven over about 30 and a level for each value of glaze; damp seems to tell nothing more (SE[oven] + " +
				"CAT[glaze]). " +
				"Certain: that oven and glaze matter. Which kernel is best is not settled: this one leads since 45 % of the data, with 75 % of the " +
				"belief (q*); one other cannot be told from it.", "Certain: that oven and glaze matter.", "Certain: that oven and glaze matter.", ""},
		{"a column that may matter", scene{kiln, "SE[oven]+SE[damp]", []files.Number{50, 12, 100, 30, 1}, 300, 900, nil,
			among(t, 0.6, 0, rival{"SE[oven]", []files.Number{1, 30, 1}, 0.4})}, nil,
			"gloss: a smooth variation in oven over about 30 and a smooth variation in damp over about 12 (SE[damp] + SE[oven]). Certain: " +
				"that oven " +
				"matters; likely: that damp matters (60 % of the belief). Which", "", "", "glaze seems"},
		{"settled, with a column that does not matter", scene{kiln, "SE[oven]", []files.Number{100, 30, 1}, 300, 900, nil,
			among(t, 0.97, 0, rival{"SE[oven]+CAT[glaze]", []files.Number{1, 30, 1, 1}, 0.03})}, nil,
			"gloss: a smooth variation in oven over about 30; glaze seems to tell nothing more (SE[oven]). It leads since 45 % of the data, " +
				"with 97 " +
				"% of the " +
				"belief (q*); settled among the two kernels tried.", "It leads since 45 % of the data; settled.", "Settled.", "damp seems"},
		{"while rows are to come nothing is certain", scene{days, "PER+LIN", year, 1500, 900, nil,
			among(t, 0.3, 1, rival{"PER+RW", wave(365), 0.7})}, func(s *record.Standing) {
			s.State, s.Evaluation.Proportion, s.Evaluation.RowsSeen = record.Running, 0.9, 1350
		}, "So far, with 90 % of the rows: a pattern that repeats every year, on perhaps a straight line (PER + LIN). It leads since 45 % " +
			"of the data, " +
			"with 30 % of the belief (q*); not settled: one other cannot be told from it. Next", "", "Not settled.", "ertain"},
		{"nor while it is not known how large the parts are", scene{days, "PER+LIN", year, 1500, 900, nil,
			among(t, 0.3, 1, rival{"PER+RW", wave(365), 0.7})}, func(s *record.Standing) { s.State = record.Running }, "", "", "", "ertain"},
		{"of half of the belief nothing is known", scene{days, "PER+LIN", year, 1500, 900, nil,
			among(t, 0.3, 1, rival{"PER+RW", wave(365), 0.2})}, nil,
			"A pattern that repeats every year, on a straight line (PER + LIN). It leads", "", "Not settled.", "ertain"},
	} {
		s := c.scene.standing(t)
		if c.also != nil {
			c.also(s)
		}
		f := Of(s, "runs/a")
		text := f.Text()
		if !strings.HasPrefix(text, c.sentence) {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, text, c.sentence)
		}
		if c.brief != "" && f.brief != c.brief || c.terse != "" && f.terse != c.terse {
			t.Errorf("%s, in brief: %q, %q", c.what, f.brief, f.terse)
		}
		if c.notIn != "" && strings.Contains(text, c.notIn) {
			t.Errorf("%s: says %s: %s", c.what, c.notIn, text)
		}
	}
}

// Noise is told with its mean and how far chance goes about it, as precisely as that is known.
func TestChance(t *testing.T) {
	for _, c := range []struct {
		target datasets.ColumnSummary
		inputs int
		want   string
	}{
		{datasets.ColumnSummary{Name: "grams", Mean: 360.7512, SD: 1.6882}, 1, "Nothing repeats, grows or wanders: only chance about a " +
			"mean of 360.8 grams (sd 1.7)."},
		{datasets.ColumnSummary{Name: "y", Mean: -0.0123, SD: 12.3, Unit: "K"}, 1, "only chance about a mean of -0.012 K (sd 12)."},
		{datasets.ColumnSummary{Name: "y", Mean: 51234.5, SD: 120}, 1, "only chance about a mean of 51230 (sd 120)."},
		{datasets.ColumnSummary{Name: "y", Mean: 5, SD: 1}, 2, "y: no input tells anything: only chance about a mean of 5 (sd 1)."},
	} {
		columns := []datasets.ColumnSummary{{Name: "x", Role: "input", Max: 300}, {Name: "z", Role: "input", Max: 300}}[:c.inputs]
		c.target.Role = "target"
		s := scene{append(columns, c.target), "CONST", []files.Number{1, 4}, 300, -1, nil, nil}
		if got := Of(s.standing(t), "runs/a").What; !strings.HasSuffix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A period is that of the calendar where the rows do not tell another from it, and else its own.
func TestPeriodsOfTheCalendar(t *testing.T) {
	for _, c := range []struct {
		days   float64
		period files.Number
		want   string
	}{
		{1670, 366, "every year"}, {1670, 367, "every year"}, {1670, 372, "every 372 days"}, {412, 6.98, "every 7 days"},
		{11000, 6.98, "every 6.98 days"}, {300, 1.002, "every 24 h"}, {300, 30.4, "every 30.4 days"},
	} {
		columns := []datasets.ColumnSummary{days[0], days[1]}
		columns[0].Max = c.days
		s := scene{columns, "PER", []files.Number{9, 1, c.period, 1}, 300, 900, nil, nil}
		if got := Of(s.standing(t), "runs/a").What; !strings.Contains(got, c.want) {
			t.Errorf("%v days of rows: %q, want %q", c.days, got, c.want)
		}
	}
}

// However little room there is, a part that may be nothing is told with its perhaps, and one that the data show to be large is not
// called small; when a pattern is high stays longer than by how much.
func TestDoubtsStayInBrief(t *testing.T) {
	effects := func(swing files.Number, days ...record.Effect) func(*record.Standing, *record.Fit) {
		return func(s *record.Standing, f *record.Fit) {
			among(t, 0.8, 1, rival{"RW", []files.Number{1, 1825, 1}, 0.2})(s, f)
			s.Effects = &record.Effects{Evaluation: 5, Kernel: s.Evaluation.Kernels[0].ID, All: append(days,
				record.Effect{Kind: record.EffectSwing, Part: "PER", Column: "day", Mean: swing, SD: 3},
				record.Effect{Kind: record.EffectChange, Part: "RW", Column: "day", Mean: 20, SD: 3})}
		}
	}
	day := func(name string, mean files.Number) record.Effect {
		return record.Effect{Kind: record.EffectPart, Part: "PER", Column: "day", Name: name, Mean: mean, SD: 1}
	}
	small := []files.Number{0.1, 1, 7, 0.1, 1825, 4}
	for what, c := range map[string]struct {
		scene   scene
		always  string
		never   string
		between string
	}{
		"may be nothing": {scene{days, "PER+RW", small, 1500, 900, nil, effects(1)}, "perhaps", "", ""},
		"is not small":   {scene{days, "PER+RW", small, 1500, 900, nil, effects(20)}, "repeats", "small", ""},
		"high on Sundays": {scene{days, "PER+RW", small, 1500, 900, nil, effects(20, day("Sunday", 20), day("Monday", -20), day("Friday", 0))},
			"", "small", "highest on Sundays, "},
	} {
		f := Of(c.scene.standing(t), "runs/a")
		seen := false
		for room := range 700 {
			text := strings.ToLower(f.Within(func(s string) bool { return len(s) <= room }))
			seen = seen || c.between != "" && strings.Contains(text, strings.ToLower(c.between))
			if told := strings.Contains(text, "repeats"); told && !strings.Contains(text, c.always) ||
				c.never != "" && strings.Contains(text, c.never) {
				t.Fatalf("%s, in %d characters: %s", what, room, text)
			}
		}
		if c.between != "" && !seen {
			t.Errorf("%s: %q is never said: %s", what, c.between, f.Text())
		}
	}
}

// Where kernels come and go those that have gone were tried, too.
func TestTriedCountsThoseThatHaveGone(t *testing.T) {
	e := &record.Evaluation{Kernels: []record.Kernel{{Status: vbks.Live}, {Status: vbks.Live}, {Status: vbks.Pruned}}}
	for kernels, want := range map[int]string{3: "the three kernels tried, one of them pruned before the end",
		32: "the 32 kernels tried, one of them pruned before the end"} {
		r := &reading{Standing: &record.Standing{Start: &record.Start{Kernels: make([]record.KernelInfo, kernels)}, Evaluation: e}}
		if got := r.tried(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
