package finding

import (
	"regexp"
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
)

var dates = regexp.MustCompile(`\d{4}-\d\d-\d\d`)

// The sentence has the sign and the size of the largest parts, in the target's
// unit, of a logarithm in percent, and no number that may as well be 0.
func TestSizes(t *testing.T) {
	months := []datasets.ColumnSummary{days[0], days[1]}
	months[0].Max = 300
	daily := []datasets.ColumnSummary{days[0], days[1]}
	daily[0].Spacing = 1
	regular := []datasets.ColumnSummary{daily[0], daily[1]}
	regular[0].Regular = true
	weather := []datasets.ColumnSummary{days[0], {Name: "weather", Role: "input", Levels: make([]datasets.Level, 2), Max: 1,
		Distinct: 2}, {Name: "energy", Role: "target", Unit: "kWh"}}
	effects := func(all ...record.Effect) func(*record.Standing, *record.Fit) {
		return func(s *record.Standing, _ *record.Fit) {
			s.Effects = &record.Effects{Evaluation: 5, Kernel: s.Evaluation.Kernels[0].ID, All: all}
		}
	}
	part := func(name string, mean, sd files.Number) record.Effect {
		return record.Effect{Kind: record.EffectPart, Part: "PER", Column: "day", Name: name, Mean: mean, SD: sd}
	}
	level := func(name string, mean files.Number) record.Effect {
		return record.Effect{Kind: record.EffectLevel, Part: "CAT[weather]", Column: "weather", Name: name, Against: "sun", Mean: mean, SD: 1}
	}
	week := []record.Effect{part("Monday", -31.4, 2), part("Wednesday", 1, 2), part("Saturday", 60.2, 2)}
	swing := record.Effect{Kind: record.EffectSwing, Part: "PER", Column: "day", Mean: 41.7, SD: 3}
	slope := record.Effect{Kind: record.EffectSlope, Part: "LIN", Column: "day", Mean: 3.2 / 30.436875, SD: 0.01}
	walk := record.Effect{Kind: record.EffectChange, Part: "RW", Column: "day", Mean: 142, SD: 9}
	hump := record.Effect{Kind: record.EffectSwing, Part: "SE[oven]", Column: "oven", Mean: 12, SD: 1}
	curve := func(shape, at string) record.Effect {
		return record.Effect{Kind: record.EffectShape, Part: "SE[oven]", Column: "oven", Name: shape, Against: at, Mean: 24, SD: 2}
	}
	glaze := record.Effect{Kind: record.EffectLevel, Part: "CAT[glaze]", Column: "glaze", Name: "Linde", Against: "Alba", Mean: -12, SD: 1}
	step := func(mean files.Number) record.Effect {
		return record.Effect{Kind: record.EffectStep, Part: "CP(CONST,CP(CONST,CONST))", Column: "day", Mean: mean, SD: 0.2}
	}
	bent := func(sd files.Number) record.Effect {
		return record.Effect{Kind: record.EffectBend, Part: "CP(LIN+CONST,LIN+CONST)", Column: "day", Mean: -3.2 / 30.436875, SD: sd,
			Place: &record.Bend{Low: 481.27, Middle: 500.13, High: 512.4}}
	}
	kiln := []datasets.ColumnSummary{{Name: "oven", Role: "input", Min: 760, Max: 880, Mean: 820, SD: 35}, {Name: "glaze", Role: "input",
		Levels: make([]datasets.Level, 2), Max: 1, Distinct: 2}, {Name: "gloss", Role: "target"}}
	named := func(target string) []datasets.ColumnSummary {
		return []datasets.ColumnSummary{days[0], {Name: target, Role: "target"}}
	}
	around := func(all ...record.Effect) func(*record.Standing, *record.Fit) {
		return func(s *record.Standing, f *record.Fit) {
			effects(all...)(s, f)
			f.Low, f.High = []files.Number{497.2, .01, 1, 1, .5}, []files.Number{502.4, 2, 90, 90, 2}
		}
	}
	perWeek := []files.Number{100, 1, 7, 0.01, 800, 4}
	for _, c := range []struct {
		what  string
		scene scene
		want  string
	}{
		{"a week and a slope over some months", scene{months, "PER+LIN", []files.Number{100, 1, 7, 0.01, 1, 4}, 300, 400, nil,
			effects(append(week, slope)...)},
			"A pattern that repeats every 7 days, highest on Saturdays (60 kWh above the mean) and lowest on Mondays (31 kWh below), on a " +
				"straight line " +
				"(grows by 3.2 kWh a month)"},
		{"a slope that may be none", scene{days, "LIN", []files.Number{1, 1, 4}, 300, 400, nil,
			effects(record.Effect{Kind: record.EffectSlope, Part: "LIN", Column: "day", Mean: 2, SD: 1.1})}, "A straight line (LIN)."},
		{"over years", scene{days, "LIN", []files.Number{1, 1, 4}, 300, 400, nil,
			effects(record.Effect{Kind: record.EffectSlope, Part: "LIN", Column: "day", Mean: -2, SD: 0.1})},
			"A straight line (falls by 730 kWh a year)"},
		{"of another column", scene{room, "LIN[sun]", []files.Number{1, 1, 4}, 300, 400, nil,
			effects(record.Effect{Kind: record.EffectSlope, Part: "LIN[sun]", Column: "sun", Mean: 0.0123, SD: 0.001})},
			"heat: a straight line in sun (grows by 0.012 K per W)"},
		{"days that may be equal, a wave that is not", scene{days, "PER", perWeek[:4], 300, 400, nil,
			effects(part("Monday", -3, 2), part("Saturday", 3, 2), swing)}, "A pattern that repeats every 7 days (swings by ±42 kWh) (PER)."},
		{"a wave of a logarithm", scene{logged, "PER", []files.Number{100, 1, 11, 0.01}, 300, 400, nil,
			effects(record.Effect{Kind: record.EffectSwing, Part: "PER", Column: "day", Mean: 0.1823, SD: 0.01})},
			"A pattern that repeats every 11 days (swings by ±20 %), of log energy"},
		{"days of a logarithm, of which none is less than nothing", scene{logged, "PER", perWeek[:4], 300, 400, nil,
			effects(part("Saturday", 0.82, 0.01), part("Monday", -0.756, 0.01), part("Tuesday", 0, 0.01))},
			"A pattern that repeats every 7 days, highest on Saturdays (127 % above the mean) and lowest on Mondays (53 % below), " +
				"of log energy"},
		{"what wanders", scene{days, "PER+RW", []files.Number{100, 1, 11, 1, 1825, 4}, 300, 400, nil, effects(swing,
			record.Effect{Kind: record.EffectChange, Part: "RW", Column: "day", Mean: 142.3, SD: 9})},
			"A pattern that repeats every 11 days (swings by ±42 kWh), on a level that wanders (ends 142 kWh higher than it began)"},
		{"a step, at once", scene{daily, "CP(CONST,CONST)", []files.Number{500, 0.1, 9, 9, 1}, 300, 400, nil, effects(
			record.Effect{Kind: record.EffectChange, Part: "CP(CONST,CONST)", Column: "day", Mean: -31.2, SD: 2})},
			"A level that steps at 2023-05-16 (31 kWh lower from then on) (CP(CONST, CONST))."},
		{"a step, of which is known where", scene{daily, "CP(CONST,CONST)", []files.Number{500, 0.1, 9, 9, 1}, 300, 400, nil, around(
			record.Effect{Kind: record.EffectChange, Part: "CP(CONST,CONST)", Column: "day", Mean: -31.2, SD: 2})},
			"A level that steps at 2023-05-16, with 95 % between 2023-05-13 and 2023-05-18 (31 kWh lower from then on) (CP("},
		{"and rows are even", scene{regular, "CP(CONST,CONST)", []files.Number{500, 0.1, 9, 9, 1}, 300, 400, nil, around()},
			"A level that steps at 2023-05-16, with 95 % between 2023-05-13 and 2023-05-19 (CP("},
		{"two steps, not at once", scene{daily, "CP(CONST,CP(CONST,CONST))", []files.Number{500, 9, 9, 1000, 3, 9, 9, 1}, 300, 400, nil, effects(
			record.Effect{Kind: record.EffectChange, Part: "CP(CONST,CP(CONST,CONST))", Column: "day", Mean: 8, SD: 2})},
			"A level that changes at 2023-05-16 and at 2024-09-27 (ends 8 kWh higher than it began)"},
		{"two steps, each known", scene{daily, "CP(CONST,CP(CONST,CONST))", []files.Number{500, 9, 9, 1000, 3, 9, 9, 1}, 300, 400, nil, effects(
			record.Effect{Kind: record.EffectChange, Part: "CP(CONST,CP(CONST,CONST))", Column: "day", Mean: -1.2, SD: 0.3}, step(-2.57),
			step(1.5))}, "A level that changes at 2023-05-16 (−2.6 kWh) and at 2024-09-27 (+1.5 kWh) (CP("},
		{"two steps, of which one may be 0", scene{daily, "CP(CONST,CP(CONST,CONST))", []files.Number{1000, 9, 9, 500, 3, 9, 9, 1}, 300, 400,
			nil, effects(step(0.1), step(1.5))}, "A level that changes at 2023-05-16 and at 2024-09-27 (+1.5 kWh) (CP("},
		{"a line that bends", scene{daily, "CP(LIN+CONST,LIN+CONST)", []files.Number{300, 50, 9, 1, 9, 9, 1, 9, 1}, 300, 400, nil,
			effects(bent(0.01))}, "A straight line that bends at 2023-05-16, with 95 % between 2023-04-27 and 2023-05-28 (its slope is 38 kWh " +
			"a year lower from then on) (CP("},
		{"one that may be straight", scene{daily, "CP(LIN+CONST,LIN+CONST)", []files.Number{300, 50, 9, 1, 9, 9, 1, 9, 1}, 300, 400, nil,
			effects(bent(0.1))}, "A change at day = 2022-10-28 00:00, over about 50 days, from a straight line plus a constant to a straight line "},
		{"five days that are equal, two that are not", scene{days, "PER", perWeek[:4], 300, 400, nil, effects(part("Sunday", -103, 2),
			part("Monday", 31, 2), part("Tuesday", 35, 2), part("Wednesday", 33, 2), part("Thursday", 34, 2), part("Friday", 34, 2),
			part("Saturday", -64, 2))},
			"A pattern that repeats every 7 days, highest from Monday to Friday (33 kWh above the mean) and lowest on Sundays (103 kWh " +
				"below) (PER)."},
		{"a weekend about the end of a list", scene{days, "PER", perWeek[:4], 300, 400, nil, effects(part("Sunday", 52, 2),
			part("Monday", -20, 1), part("Tuesday", -26, 2), part("Wednesday", -40, 1), part("Thursday", -31, 1), part("Friday", 2, 1),
			part("Saturday", 50, 2))},
			"A pattern that repeats every 7 days, highest on Saturdays and Sundays (51 kWh above the mean) and lowest on Wednesdays (40 kWh " +
				"below) (PER)."},
		{"of another kernel", scene{days, "PER", perWeek[:4], 300, 400, nil, func(s *record.Standing, f *record.Fit) {
			effects(swing)(s, f)
			s.Effects.Kernel = "SE"
		}}, "A pattern that repeats every 7 days (PER)."},
		{"of an evaluation before", scene{days, "PER", perWeek[:4], 300, 400, nil, func(s *record.Standing, f *record.Fit) {
			effects(swing)(s, f)
			s.Effects.Evaluation = 4
		}}, "A pattern that repeats every 7 days (PER)."},
		{"levels against the most frequent one", scene{weather, "CAT[weather]", []files.Number{100, 4}, 300, 400, nil,
			effects(level("fog", 4), level("rain\x1b[31m", -15))},
			"energy: a level for each value of weather (fog 4 kWh above and rain\ufffd[31m 15 kWh below sun)"},
		{"both below it", scene{weather, "CAT[weather]", []files.Number{100, 4}, 300, 400, nil, effects(level("fog", -4), level("rain", -15))},
			"energy: a level for each value of weather (fog 4 kWh and rain 15 kWh below sun)"},
		{"one that may be equal", scene{weather, "CAT[weather]", []files.Number{100, 4}, 300, 400, nil,
			effects(level("fog", 1), level("rain", -15))},
			"energy: a level for each value of weather (rain 15 kWh below sun)"},
		{"many levels", scene{weather, "CAT[weather]", []files.Number{100, 4}, 300, 400, nil, effects(level("fog", -4), level("rain", -15),
			level("snow", -40))},
			"energy: a level for each value of weather (highest sun, lowest snow, 40 kWh apart)"},
		{"a top", scene{kiln, "SE[oven]+CAT[glaze]", []files.Number{100, 130, 2, 1}, 300, 400, nil,
			effects(curve(record.ShapeTop, "819"), hump, glaze)},
			"gloss: a smooth variation in oven over about 130 (rises to a top at 819 and falls, 24 from lowest to highest) and a level for " +
				"each value of glaze (Linde 12 below Alba)"},
		{"a bottom", scene{kiln, "SE[oven]", []files.Number{100, 130, 1}, 300, 400, nil, effects(hump, curve(record.ShapeBottom, "819"))},
			"gloss: a smooth variation in oven over about 130 (falls to a bottom at 819 and rises, 24 from lowest to highest)"},
		{"a rise", scene{kiln, "SE[oven]", []files.Number{100, 130, 1}, 300, 400, nil, effects(curve(record.ShapeRises, ""), hump)},
			"gloss: a smooth variation in oven over about 130 (rises by 24)"},
		{"a fall", scene{kiln, "SE[oven]", []files.Number{100, 130, 1}, 300, 400, nil, effects(curve(record.ShapeFalls, ""), hump)},
			"gloss: a smooth variation in oven over about 130 (falls by 24)"},
		{"the unit stands in the name", scene{named("takings_eur"), "RW", []files.Number{100, 1825, 4}, 300, 400, nil, effects(walk)},
			"A level that wanders (ends 142 EUR higher than it began)"},
		{"the name is what is counted, told once", scene{named("guests"), "PER+RW", []files.Number{100, 1, 11, 1, 1825, 4}, 300, 400, nil,
			effects(swing, walk)},
			"A pattern that repeats every 11 days (swings by ±42 guests), on a level that wanders (ends 142 higher than it began)"},
		{"the name is no unit", scene{named("gloss"), "RW", []files.Number{100, 1825, 4}, 300, 400, nil, effects(walk)},
			"A level that wanders (ends 142 higher than it began)"},
	} {
		got := Of(c.scene.standing(t), "runs/a")
		if !strings.HasPrefix(got.What, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got.What, c.want)
		}
		if strings.ContainsAny(dates.ReplaceAllString(got.calm, ""), "±") || strings.Contains(got.calm, " (") {
			t.Errorf("%s: %q has sizes", c.what, got.calm)
		}
	}
}

// Of a product of what acts on different columns the sentence says that these act together, and where a straight
// line turns it over.
func TestColumnsThatActTogether(t *testing.T) {
	swelling := []files.Number{1, 1, 9, 50, 1}
	press := []datasets.ColumnSummary{{Name: "heat", Role: "input", Min: 18, Max: 62, SD: 12}, {Name: "minutes", Unit: "min", Role: "input",
		Min: 4, Max: 26, SD: 6}, {Name: "strength", Role: "target"}}
	sinceDays := []datasets.ColumnSummary{{Name: "heat", Role: "input", Min: 18, Max: 62, SD: 12}, days[0], {Name: "strength", Role: "target"}}
	for _, c := range []struct {
		columns    []datasets.ColumnSummary
		kernel     string
		values     []files.Number
		centre     float64
		want, calm string
	}{
		{press, "LIN[minutes]*SE[heat]", swelling, 14.727, "strength: a smooth variation in heat over about 50 that grows " +
			"with minutes (turned over below 14.7 min) (", "strength: a smooth variation in heat over about 50 that grows with minutes."},
		{press, "LIN[minutes]*SE[heat]", swelling, 0, "strength: a smooth variation in heat over about 50 that grows with " +
			"minutes (LIN", ""},
		{press, "LIN[minutes]*SE[heat]", swelling, 30, "strength: a smooth variation in heat over about 50 that shrinks " +
			"with minutes (LIN", ""},
		{sinceDays, "LIN[day]*SE[heat]", swelling, 31, "strength: a smooth variation in heat over about 50 that grows with " +
			"day (turned over before 2022-02-01", ""},
		{press, "LIN[heat]*LIN[minutes]", []files.Number{1, 1, 1, 1, 1}, 14.7, "strength: a straight line in heat whose slope grows with " +
			"minutes " +
			"(turned over below 14.7 min) (", ""},
		{press, "LIN[minutes]*SE[heat]+SE[heat]", []files.Number{1, 1, 9, 50, 90, 41, 1}, 14.727, "strength: a smooth variation in heat over " +
			"about 50 that grows with minutes (turned over below 14.7 min), with a small smooth variation in heat over about 41 (rises by 36 at " +
			"minutes 14.7 min) (", ""},
		{press, "LIN[heat]*LIN[minutes]+LIN[heat]", []files.Number{1, 1, 1, 1, 1, 1, 1}, 14.7, "strength: a straight line in heat whose " +
			"slope grows " +
			"with minutes (turned over below 14.7 min), with a small straight line in heat (grows by 0.94 per unit of heat at minutes 14.7 " +
			"min) (", ""},
		{press, "SE[heat]*SE[minutes]", []files.Number{9, 30, 1, 12, 1}, 0, "strength: a smooth variation in heat over about 30, together with " +
			"minutes over about 12 min (", ""},
		{press, "SE[heat]*SE[minutes]", []files.Number{9, 30, 1, 40, 1}, 0, "strength: a smooth variation in heat over about 30, slowly " +
			"changing with minutes (", ""},
	} {
		s := scene{c.columns, c.kernel, c.values, 300, 400, nil, func(s *record.Standing, _ *record.Fit) {
			s.Effects = &record.Effects{Evaluation: 5, Kernel: s.Evaluation.Kernels[0].ID, All: []record.Effect{
				{Kind: record.EffectSwing, Part: "SE[heat]", Column: "heat", Mean: 18, SD: 1},
				{Kind: record.EffectShape, Part: "SE[heat]", Column: "heat", Name: record.ShapeRises, Mean: 36, SD: 2},
				{Kind: record.EffectSlope, Part: "LIN[heat]", Column: "heat", Mean: 0.94, SD: 0.05}}}
			for _, name := range []string{"LIN", "LIN#1", "LIN#2"} {
				for _, column := range []string{"minutes", "day"} {
					s.Start.Kernels[0].Fixed = append(s.Start.Kernels[0].Fixed, record.Fixed{Name: name + ".centre", Column: column, Value: c.centre})
				}
			}
		}}
		got := Of(s.standing(t), "runs/a")
		if !strings.HasPrefix(got.What, c.want) || c.calm != "" && got.calm != c.calm {
			t.Errorf("%s at %v:\n%s\n%s\nwant\n%s", c.kernel, c.centre, got.What, got.calm, c.want)
		}
	}
}

// Of a day and a week that are called alike each has its own sizes; a time of the day that the data name has that of the kernel where it
// is as high or low as the extreme one, and where neither is, how far the day swings is said.
func TestSizesOfADayAndAWeek(t *testing.T) {
	hours := []datasets.ColumnSummary{days[0], days[1]}
	hours[0].Max = 28
	part := func(name string, mean files.Number) record.Effect {
		return record.Effect{Kind: record.EffectPart, Part: "PER", Column: "day", Name: name, Mean: mean, SD: 1}
	}
	swing := func(mean files.Number) record.Effect {
		return record.Effect{Kind: record.EffectSwing, Part: "PER", Column: "day", Mean: mean, SD: 1}
	}
	for _, c := range []struct {
		what      string
		high, low string // in the data
		all       []record.Effect
		want      string
	}{
		{"each has its own", "16:00", "03:00", []record.Effect{part("02:00", -14), part("03:00", -13), part("10:00", -6), part("16:00", 19),
			part("20:00", 3), swing(16.5), part("Monday", 9), part("Tuesday", -2), part("Wednesday", -8), part("Thursday", 2), swing(8.5)},
			"A pattern that repeats every 24 h, highest about 16:00 (19 kWh above the mean) and lowest about 02:00 and 03:00 (14 kWh below) and a " +
				"pattern that repeats every 7 days, highest on Mondays (9 kWh above the mean) and lowest on Wednesdays (8 kWh below)"},
		{"other hours than the data", "12:00", "05:00", []record.Effect{
			part("02:00", -14), part("05:00", -8), part("12:00", 9), part("16:00", 19),
			part("20:00", 3), swing(16.5), swing(8.5)},
			"A pattern that repeats every 24 h, highest about 12:00 and lowest about 05:00 (swings by ±16 kWh)"},
		{"one group too few", "16:00", "03:00", []record.Effect{part("03:00", -14), part("10:00", -6), part("16:00", 19), swing(16.5)},
			"A pattern that repeats every 24 h, highest about 16:00 and lowest about 03:00 and a pattern that repeats every 7 days ("},
	} {
		s := scene{hours, "PER+PER", []files.Number{100, 1, 1, 90, 1, 7, 1}, 300, 400, nil, func(s *record.Standing, _ *record.Fit) {
			s.Start.Data.Rhythms = []datasets.Rhythm{{Every: "day", High: c.high, Low: c.low}}
			s.Effects = &record.Effects{Evaluation: 5, Kernel: s.Evaluation.Kernels[0].ID, All: c.all}
		}}
		if got := Of(s.standing(t), "runs/a").What; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

// Of components that are called alike, with sizes of one of them alone, nobody says which one a size is of, and of
// four large parts three have one.
func TestFewSizes(t *testing.T) {
	var s record.Standing
	start := &record.Start{Data: &datasets.Summary{Columns: days}}
	for kernel, want := range map[string]int{"RW+RW": 0, "LIN+PER+RW+IRW": mostSized} {
		values := map[string][]files.Number{"RW+RW": {4, 1825, 4, 1825, 1}, "LIN+PER+RW+IRW": {100, 1, 11, 4, 1, 1, 1825, 1, 1825, 1}}[kernel]
		info, _ := describe(t, start, kernel, false, nil)
		start.Kernels = []record.KernelInfo{*info}
		s.Effects = &record.Effects{}
		for _, part := range []string{"RW", "LIN", "PER", "IRW"} {
			s.Effects.All = append(s.Effects.All, record.Effect{Kind: record.EffectChange, Part: part, Column: "day", Mean: 100, SD: 1})
		}
		text := shape(start, &record.Kernel{ID: info.ID, Fit: &record.Fit{Params: values}}, s.Effects, nil, highAndLow)
		if got := strings.Count(text, "100 kWh"); got != want {
			t.Errorf("%s: %q has %d sizes, want %d", kernel, text, got, want)
		}
	}
}

// About an extreme part of a circle those belong to it that cannot be told from it without a
// gap; where that is nearly all, none is told.
func TestAlike(t *testing.T) {
	circle := func(means ...float64) (parts []record.Effect) {
		for i, m := range means {
			parts = append(parts, record.Effect{Name: string(rune('a' + i)), Mean: files.Number(m), SD: 1})
		}
		return parts
	}
	for _, c := range []struct {
		parts []record.Effect
		of    string
		want  string
	}{
		{circle(9, 1, 9, 0, 0), "a", "a"},
		{circle(9, 0, 0, 8, 9), "a", "dea"},
		{circle(0, 8, 9, 8, 0, 1), "c", "bcd"},
		{circle(1, 2, 1, 2, 1, 9), "b", "b"},
		{circle(1, 2, 1, 2, 1), "d", "d"},
		{circle(1, 2), "x", "x"},
	} {
		got := ""
		for _, e := range alike(c.parts, record.Effect{Name: c.of, Mean: meanOf(c.parts, c.of), SD: 1}) {
			got += e.Name
		}
		if got != c.want {
			t.Errorf("about %s of %v: %s, want %s", c.of, c.parts, got, c.want)
		}
	}
}

func meanOf(parts []record.Effect, name string) files.Number {
	for _, e := range parts {
		if e.Name == name {
			return e.Mean
		}
	}
	return 0
}
