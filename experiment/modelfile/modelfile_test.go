package modelfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/modelfile"
	"example.com/kestrel/experiment/npz"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/experiment/words/wordstest"
	"example.com/kestrel/internal/golden"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// every names all base kernels, sums, products, columns, length scales of their own and
// a change point, in a few kernels of two inputs.
const every = "SE[hour]*PER[hour]+LIN[height]+CONST,RQ[;ard]+MATERN12*POLY2+WN,MATERN32[hour]*COS[hour]+POLY3[height]+RW[hour]," +
	"CP(MATERN52[;ard]+IRW[height],LIN[hour]*POLY4[height])[hour]"

// models writes the model files of runs of all kinds, and what the program predicts
// with them at points: mean and sd of y.
func models(t *testing.T, x [][]float64, each func(what, path, predictions string)) {
	t.Helper()
	plane, points := configtest.PlaneFile(t), tableOf(t, "hour,height", x)
	for _, set := range [][]string{
		{"sparse.inducing=12", "predict.weights=tempered"},
		{"predict.theta=mode", "predict.weights=tempered"},
		{"optimise.optimizer=natural", "optimise.hyperparameters=diagonal", "predict.weights=bayes", "predict.top=3", "kernels.mean=linear",
			"optimise.bound.SE.lengthscale=[3,6]", "optimise.fix.PER.period=20"},
		{"optimise.optimizer=adam"},
		{"predict.calibrate=auto", "predict.weights=loo", "kernels.mean=linear", "optimise.fix.noise=1.1"},
	} {
		_, _, dir := runtest.Finished(t, configtest.Plane(t, plane, append([]string{"kernels.expressions=" + every}, set...)...))
		path := filepath.Join(dir, record.ModelFile)
		ask(t, path, points, func(predictions string) { each(fmt.Sprint(set), path, predictions) })
		if set[0] == "sparse.inducing=12" { // and with rows to find the factors from
			path := withRows(t, dir)
			ask(t, path, points, func(predictions string) { each("with rows", path, predictions) })
		}
	}
	path := own(t)
	ask(t, path, points, func(predictions string) { each("inducing inputs of its own", path, predictions) })
}

// own is a model file of a run on so many rows that kernels have inducing inputs of their own.
func own(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("hour,height,level\n")
	for i := range 2400 {
		x, h := 24*math.Mod(float64(i)*0.618034, 1), 2000+500*math.Sin(float64(i)*1.7)
		fmt.Fprintf(&b, "%g,%g,%g\n", x, h, 300+20*math.Sin(x*x/20)+0.01*h+math.Cos(float64(7*i)))
	}
	table := filepath.Join(t.TempDir(), "planes.csv")
	must.OK(t, os.WriteFile(table, []byte(b.String()), 0o644))
	_, _, dir := runtest.Finished(t, configtest.Plane(t, table, "kernels.expressions=SE[hour]+LIN[height],RQ[hour]", "sparse.inducing=7",
		"optimise.optimizer=natural", "schedule.evaluate_every=1", "schedule.refine=0", "predict.local=none"))
	return filepath.Join(dir, record.ModelFile)
}

// withRows is a model file of a run without factors.
func withRows(t *testing.T, dir string) string {
	t.Helper()
	start, err := record.ReadStart(t.Context(), dir)
	must.OK(t, err)
	p, err := inspect.OpenPredictor(t.Context(), dir)
	must.OK(t, err)
	defer p.Close()
	m, err := p.Model(t.Context(), start, inspect.ModelOptions{})
	must.OK(t, err)
	var b bytes.Buffer
	must.OK(t, m.Write(&b))
	path := filepath.Join(t.TempDir(), "rows.kestrel")
	must.OK(t, os.WriteFile(path, b.Bytes(), 0o644))
	return path
}

// ask predicts with a model file and tells in which file the predictions are.
func ask(t *testing.T, path, points string, tell func(predictions string)) {
	t.Helper()
	p, err := inspect.OpenModel(path)
	must.OK(t, err)
	at, err := p.OpenPoints(t.Context(), points)
	must.OK(t, err)
	var b bytes.Buffer
	_, err = p.Write(t.Context(), at, p.DefaultQuery(), &b, nil)
	must.OK(t, err)
	must.OK(t, at.Close())
	must.OK(t, p.Close())
	predictions := filepath.Join(t.TempDir(), "predictions.csv")
	must.OK(t, os.WriteFile(predictions, b.Bytes(), 0o644))
	tell(predictions)
}

// outlying is the directory of a run on rows of which some are far off.
func outlying(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("hour,height,level\n")
	for i := range 120 {
		x, off := 24*math.Mod(float64(i)*0.618034, 1), 0.0
		if i%15 == 7 {
			off = 40
		}
		fmt.Fprintf(&b, "%g,%g,%g\n", x, 2000+500*math.Sin(float64(i)*1.7), 300+20*math.Sin(x/3)+2*math.Cos(float64(7*i))+off)
	}
	table := filepath.Join(t.TempDir(), "off.csv")
	must.OK(t, os.WriteFile(table, []byte(b.String()), 0o644))
	_, _, dir := runtest.Finished(t, configtest.Plane(t, table, "kernels.expressions=SE[hour]", "sparse.inducing=10",
		"kernels.likelihood=auto", "schedule.evaluate_every=0.5", "schedule.refine=2"))
	return dir
}

// A model file of a run with outliers predicts as the run does, from rows with their
// weights and from factors, and its intervals have the tails.
func TestModelOfOutliers(t *testing.T) {
	dir, points := outlying(t), tableOf(t, "hour,height", somewhere)
	run, err := inspect.OpenPredictor(t.Context(), dir)
	must.OK(t, err)
	at, err := run.OpenPoints(t.Context(), points)
	must.OK(t, err)
	var want bytes.Buffer
	_, err = run.Write(t.Context(), at, run.DefaultQuery(), &want, nil)
	must.OK(t, err)
	must.OK(t, errors.Join(at.Close(), run.Close()))
	expected := filepath.Join(t.TempDir(), "run.csv")
	must.OK(t, os.WriteFile(expected, want.Bytes(), 0o644))
	names := []string{"mean", "sd_f", "sd_y", "y_q0.05", "y_q0.5", "y_q0.95"}
	for _, path := range []string{filepath.Join(dir, record.ModelFile), withRows(t, dir)} {
		m, err := modelfile.Open(path)
		must.OK(t, err)
		if m.Frozen.Noise == nil || m.Frozen.Noise.Normal() {
			t.Errorf("%s: noise %+v", path, m.Frozen.Noise)
		}
		ask(t, path, points, func(predictions string) {
			a, b := numbers(t, predictions, names...), numbers(t, expected, names...)
			for i := range a {
				for k := range a[i] {
					if math.Abs(a[i][k]-b[i][k]) > 1e-8*math.Abs(b[i][k]) {
						t.Errorf("%s at %v: %v, the run %v", names[i], somewhere[k], a[i][k], b[i][k])
					}
				}
			}
		})
	}
}

var somewhere = [][]float64{{3, 2000}, {12.5, 1500}, {25, 3000}, {-2, 2200}}

// What is read by another library and computed with dense inverses and each kernel's
// formula from docs/format.md is what the program predicts.
func TestNaiveReaderPredictsTheSame(t *testing.T) {
	thorough.Unraced(t)
	rows := 0
	models(t, somewhere, func(what, path, predictions string) {
		n := openNaive(t, path)
		mean, sd := n.predict(somewhere)
		want := numbers(t, predictions, "mean", "sd_y")
		if n.about["has_rows"] == true {
			rows++
		}
		for i := range mean {
			// Explicit inverses of k(Z,Z), jitter 1e-9, lose digits.
			if math.Abs(mean[i]-want[0][i]) > 1e-6*want[1][i] || math.Abs(sd[i]-want[1][i]) > 1e-6*want[1][i] {
				t.Errorf("%s at %v: %v ± %v, naive %v ± %v", what, somewhere[i], want[0][i], want[1][i], mean[i], sd[i])
			}
		}
	})
	if rows != 1 {
		t.Errorf("%d files with rows, want one", rows)
	}
}

// The page of Python predicts the same to eight digits. It needs python3 with NumPy,
// or KESTREL_PYTHON, and is passed over without.
func TestNumPyPagePredictsTheSame(t *testing.T) {
	python := os.Getenv("KESTREL_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import numpy, zoneinfo; zoneinfo.ZoneInfo('Europe/Zurich')").Run(); err != nil {
		t.Skipf("%s has no NumPy, or no time zones: %v", python, err)
	}
	page := filepath.Join(golden.Module(t), "docs", "peers", "predict_numpy.py")
	compare := func(what, path, points, predictions string) {
		var complaint bytes.Buffer
		cmd := exec.CommandContext(t.Context(), python, page, path, points)
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", what, err, &complaint)
		}
		mine := filepath.Join(t.TempDir(), "numpy.csv")
		must.OK(t, os.WriteFile(mine, out, 0o644))
		names := []string{"mean", "sd_f", "sd_y", "y_q0.05", "y_q0.5", "y_q0.95"}
		got, want := numbers(t, mine, names...), numbers(t, predictions, names...)
		for i := range names {
			for k := range want[i] {
				if math.Abs(got[i][k]-want[i][k]) > 1e-8*max(1, math.Abs(want[i][k])) {
					t.Errorf("%s: %s at row %d is %v, by NumPy %v", what, names[i], k+1, want[i][k], got[i][k])
				}
			}
		}
	}
	models(t, somewhere, func(what, path, predictions string) {
		compare(what, path, tableOf(t, "hour,height", somewhere), predictions)
	})
	path, points := ofTime(t)
	ask(t, path, points, func(predictions string) { compare("inputs made of time", path, points, predictions) })
	weighed := withRows(t, outlying(t))
	points = tableOf(t, "hour,height", somewhere)
	ask(t, weighed, points, func(predictions string) { compare("rows of weights", weighed, points, predictions) })
	path, points = ofRooms(t)
	ask(t, path, points, func(predictions string) { compare("noise known and by rooms", path, points, predictions) })
	path, points = ofTable(t)
	ask(t, path, points, func(predictions string) { compare("neighbours in a table", path, points, predictions) })
}

// ofTable is a model of a table with a category whose rows are predicted from those they are most
// like, and a table of points, the last of which lies beyond all rows.
func ofTable(t *testing.T) (path, points string) {
	t.Helper()
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		must.OK(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	table := "hour,room,damp,level\n"
	for i := range 400 {
		x, damp := 24*math.Mod(float64(i)*0.618034, 1), math.Mod(float64(i)*0.414214, 1)
		table += fmt.Sprintf("%g,%s,%g,%g\n", x, []string{"attic", "hall", "yard"}[i*i%3], damp,
			20*math.Sin(x/3)*damp+float64(i*i%3)+math.Sin(float64(7*i)))
	}
	_, _, dir := runtest.Finished(t, configtest.Plane(t, file("rooms.csv", table), "kernels.expressions=SE[hour]+CAT[room]+SE[damp]",
		"predict.local=neighbours", "data.types={ room = \"levels\" }", "sparse.inducing=10"))
	return filepath.Join(dir, record.ModelFile), file("points.csv", "room,hour,damp\nhall,3,0.5\nattic,20,0.9\nyard,11.1,0.2\nhall,3,500\n")
}

// ofTime is a model with inputs made of time, in a zone whose clocks change among the rows,
// and a table of points.
func ofTime(t *testing.T) (path, points string) {
	t.Helper()
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		must.OK(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	table := "at,load\n"
	for i := range 600 {
		at := time.Date(2024, 3, 19, i, 30, 0, 0, time.UTC)
		table += fmt.Sprintf("%s,%v\n", at.Format("2006-01-02 15:04"), math.Sin(float64(i)/24)+0.1*float64(i%5))
	}
	feasts := file("feasts.csv", "2024-03-29\n2024-04-01,Easter Monday\n")
	_, _, dir := runtest.Finished(t, configtest.Plane(t, file("loads.csv", table),
		"kernels.expressions=SE[at]+LIN[hour],PER[hour]+SE[holiday],SE[yearday]", "data.calendar=weekday,hour,yearday",
		"data.holidays="+feasts, "data.zone=Europe/Zurich", "data.transform=none", "predict.calibrate=auto", "predict.local=neighbours"))
	return filepath.Join(dir, record.ModelFile),
		file("points.csv", "at\n2024-03-31 00:30\n2024-03-31 01:10\n2024-04-01 22:00\n2024-03-28 23:00\n")
}

// ofRooms is a model with Student's noise that is known of rows and differs by rooms, which
// are texts, and a table of points that have that of some.
func ofRooms(t *testing.T) (path, points string) {
	t.Helper()
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		must.OK(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	table := "hour,room,sd,level\n"
	for i := range 120 {
		x, sd := 24*math.Mod(float64(i)*0.618034, 1), 1+float64(i%3)
		table += fmt.Sprintf("%g,%s,%g,%g\n", x, []string{"attic", "hall"}[i%2], sd, 20*math.Sin(x/3)+sd*math.Tan(1.3*math.Sin(float64(7*i))))
	}
	_, _, dir := runtest.Finished(t, configtest.Plane(t, file("rooms.csv", table),
		"kernels.expressions=SE[hour]+CAT[room],SE[hour]*CAT[room;ard]", "kernels.likelihood=student", "data.noise_column=sd",
		"data.noise_by=room", "data.types={ room = \"levels\" }", "sparse.inducing=10"))
	return filepath.Join(dir, record.ModelFile), file("points.csv", "room,hour,sd\nhall,3,0.5\nattic,20,\nhall,30,6\n")
}

// docs/format.md has the arrays and the fields of the text, and no others.
func TestFormatPageHasModels(t *testing.T) {
	thorough.Unraced(t)
	var written []string
	each := func(_, path, _ string) {
		for _, key := range openNaive(t, path).file.Keys() {
			key = strings.TrimSuffix(key, ".npy")
			if parts := strings.Split(key, "/"); parts[0] == "kernel" {
				key = "kernel/i/" + parts[2]
			}
			if !slices.Contains(written, key) {
				written = append(written, key)
			}
		}
	}
	models(t, somewhere, each)
	dense, _ := ofTime(t)
	each("", dense, "")
	if v := openNaive(t, dense).array("format"); v[0] != 2 { // programs that know no neighbours would leave them out
		t.Errorf("a model with neighbours has the format %v", v)
	}
	alike, _ := ofTable(t)
	each("", alike, "")
	if v := openNaive(t, alike).array("format"); v[0] != 4 { // programs that know series only would refuse it for another reason
		t.Errorf("a model with neighbours in a table has the format %v", v)
	}
	weighed := withRows(t, outlying(t))
	each("", weighed, "")
	if v := openNaive(t, weighed).array("format"); v[0] != 3 { // programs that know no weights would leave them out
		t.Errorf("a model of weighed rows has the format %v", v)
	}
	named := recordtest.PageNames(t, "## Model files")
	slices.Sort(written)
	slices.Sort(named)
	if !slices.Equal(written, named) {
		t.Errorf("docs/format.md has the arrays %q, written are %q", named, written)
	}
	var fields []string
	var walk func(at string, of reflect.Type)
	walk = func(at string, of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct {
			return
		}
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && name == "" { // its fields are the struct's
				walk(at, f.Type)
			}
			if name == "" || name == "-" {
				continue
			}
			fields = append(fields, at+name)
			next := at + name
			if f.Type.Kind() == reflect.Slice {
				next += "[]"
			}
			// These stand elsewhere on the page, or are the program's own.
			if !slices.Contains(
				[]string{"build", "columns.inputs", "columns.target", "columns.beyond", "scaler.transform", "kernels[].params"},
				at+name,
			) {
				walk(next+".", f.Type)
			}
		}
	}
	walk("", reflect.TypeFor[modelfile.About]())
	named = recordtest.PageNames(t, "### about")
	for _, f := range fields {
		if !slices.Contains(named, f) {
			t.Errorf("docs/format.md lacks %s", f)
		}
	}
	for _, f := range named {
		if !slices.Contains(fields, f) {
			t.Errorf("docs/format.md has %s, which there is not", f)
		}
	}
}

// small is the arrays of a model of one kernel at one point.
func small() (map[string]vbks.Tensor, error) {
	e, err := kernelspace.Parse("SE")
	if err != nil {
		return nil, err
	}
	p, err := kernelspace.Compile(e, kernelspace.Options{Columns: []string{"x"}})
	if err != nil {
		return nil, err
	}
	one := vbks.FrozenState{
		Theta: []float64{1, 2},
		Noise: 0.1,
		Share: 1,
		L:     []float64{1, 0, 0.5, 1},
		Mean:  []float64{1, -1},
		Root:  []float64{2, 0, 0, 3},
	}
	f := &vbks.Frozen{Dim: 1, Z: []float64{-1, 1}, Kernels: []vbks.FrozenKernel{{
		Program: p, Rank: 1, Posterior: 1, Bayes: 1, Worth: -3, LOO: 1, Factor: 1, States: []vbks.FrozenState{one},
	}}}
	m, err := modelfile.New(modelfile.Of{
		Start:    &record.Start{Name: "small", Data: &datasets.Summary{Name: "small", Train: 2}},
		Columns:  &datasets.Template{Inputs: []datasets.TemplateColumn{{Name: "x"}}, Target: datasets.TemplateColumn{Name: "y"}},
		Scaler:   &datasets.Scaler{XShift: []float64{0}, XScale: []float64{1}, YScale: 1},
		Settings: vbks.Settings{Weights: "posterior"},
	}, &vbks.Evaluation{Index: 1, RowsSeen: 2}, f)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		return nil, err
	}
	return npz.ReadStored(bytes.NewReader(b.Bytes()), int64(b.Len()))
}

// opened reads bytes as a model file.
func opened(t *testing.T, text []byte) (*modelfile.Model, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m")
	must.OK(t, os.WriteFile(path, text, 0o644))
	return modelfile.Open(path)
}

func hashed(arrays map[string]vbks.Tensor) []byte {
	var b bytes.Buffer
	if err := npz.WriteHashed(&b, arrays); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Whatever is done to a file whose hash is right: one line that names it, or a model
// that can be asked.
func TestHostileModels(t *testing.T) {
	arrays, err := small()
	must.OK(t, err)
	text, _ := npz.BytesOf(arrays["about"])
	swap := func(old, new string) func(map[string]vbks.Tensor) {
		return func(a map[string]vbks.Tensor) {
			if !bytes.Contains(text, []byte(old)) {
				t.Fatalf("the text has no %q: %s", old, text)
			}
			a["about"] = npz.Bytes(bytes.Replace(text, []byte(old), []byte(new), 1))
		}
	}
	put := func(name string, shape []int, data ...float64) func(map[string]vbks.Tensor) {
		return func(a map[string]vbks.Tensor) { a[name] = vbks.Tensor{Shape: shape, Data: data} }
	}
	for what, change := range map[string]func(map[string]vbks.Tensor){
		"another format":     put("format", []int{1}, 9),
		"no text":            func(a map[string]vbks.Tensor) { delete(a, "about") },
		"no JSON":            func(a map[string]vbks.Tensor) { a["about"] = npz.Bytes([]byte("{")) },
		"no bytes":           put("about", []int{1}, 0.5),
		"an empty text":      func(a map[string]vbks.Tensor) { a["about"] = npz.Bytes([]byte("{}")) },
		"no Z":               func(a map[string]vbks.Tensor) { delete(a, "z") },
		"an empty Z":         put("z", []int{0, 1}),
		"a flat Z":           put("z", []int{8}, 1, 2, 3, 4, 5, 6, 7, 8),
		"rows for nobody":    swap(`"has_rows":false`, `"has_rows":true`),
		"a scale of 0":       swap(`"x_scale":[`, `"x_scale":[0,`),
		"another root":       swap(`"root":"precision"`, `"root":"square"`),
		"unknown weights":    swap(`"weights":"posterior"`, `"weights":"all"`),
		"an unknown kernel":  swap(`"id":"SE"`, `"id":"SEE"`),
		"a line in it":       swap(`"id":"SE"`, `"id":"SE\n\u001b[31m"`),
		"another kernel":     swap(`"id":"SE"`, `"id":"RQ"`),
		"a deep kernel":      swap(`"id":"SE"`, `"id":"`+strings.Repeat("(", 10000)+"SE"+strings.Repeat(")", 10000)+`"`),
		"rank 0":             swap(`"rank":1`, `"rank":0`),
		"no jitter factor":   swap(`"jitter_factor":1`, `"jitter_factor":0`),
		"a transform":        swap(`"y_shift"`, `"transform":{"name":"sqrt"},"y_shift"`),
		"an endless horizon": swap(`"target":{`, `"beyond":{"last":1,"step":0},"target":{`),
		"no states":          put("kernel/0/share", []int{0}),
		"a NaN":              put("kernel/0/noise", []int{1}, math.NaN()),
		"theta of another":   put("kernel/0/theta", []int{1, 3}, 1, 1, 1),
		"a factor of 0":      swap(`"ard"`, `"calibration":{"factor":0,"origins":5,"rows":10},"ard"`),
		"a weight below 0":   swap(`"loo":1`, `"loo":-1`),
		"half a factor":      func(a map[string]vbks.Tensor) { delete(a, "kernel/0/root") },
		"a wide factor":      put("kernel/0/l", []int{1, 1, 2}, 1, 2),
	} {
		changed := map[string]vbks.Tensor{}
		for name, a := range arrays {
			changed[name] = a
		}
		change(changed)
		_, err := opened(t, hashed(changed))
		if err == nil {
			t.Errorf("%s: taken", what)
			continue
		}
		wordstest.CheckMessage(t, err, 0)
	}
	// Which array is missing is said, of those that say what there is: no model.
	for name := range arrays {
		want := "array " + name + " is missing"
		switch name {
		case "about", "format":
			want = "no model file"
		case "kernel/0/l": // which could be found from rows
			want = "neither factors of q(v) nor rows"
		}
		changed := maps.Clone(arrays)
		delete(changed, name)
		if _, err := opened(t, hashed(changed)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v, want %q", name, err, want)
		}
	}
	if _, err := opened(t, hashed(arrays)); err != nil {
		t.Errorf("as it was: %v", err)
	}
	if _, err := modelfile.Open(t.TempDir()); err == nil {
		t.Error("a folder is taken")
	}
}

// FuzzModel: bytes are refused in a line, or are a model that is written and read as
// the same.
func FuzzModel(f *testing.F) {
	arrays, err := small()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(hashed(arrays))
	f.Add(hashed(map[string]vbks.Tensor{"format": arrays["format"]}))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := opened(t, text)
		if err != nil {
			wordstest.CheckMessage(t, err, len(text))
			return
		}
		var b bytes.Buffer
		must.OK(t, m.Write(&b))
		again, err := opened(t, b.Bytes())
		if err != nil || !reflect.DeepEqual(again.About, m.About) || !reflect.DeepEqual(again.Frozen, m.Frozen) {
			t.Fatalf("%v: %+v becomes %+v", err, m, again)
		}
	})
}
