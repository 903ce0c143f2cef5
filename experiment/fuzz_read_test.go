package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"kestrel/configs"
	"kestrel/vbks"
)

// checkMessage wants one line of reasonable length, for an input of n bytes,
// that steers no terminal.
func checkMessage(t *testing.T, err error, n int) {
	t.Helper()
	line := PlainLine(err.Error()) // as the commands write it, but that they cut it
	if len(line) > 20_000+12*n || strings.ContainsFunc(line, unicode.IsControl) {
		t.Fatalf("%d bytes: %.300q", len(line), line)
	}
}

// FuzzConfig: what is read as a config is written as one that reads the same.
func FuzzConfig(f *testing.F) {
	for _, name := range configs.Names() {
		text, _ := configs.Read(name)
		f.Add(text)
	}
	for _, s := range []string{
		"", "[data]\npath = 'a.csv'\ninputs = [1, 'b']", "a.b.c = 1", "[kernels]\nweights = {SE = 2.0}", "seed = 1\nseed = 2", "[[data]]",
		"[data]\npath = \"a\"\n[schedule]\nbudget = \"10m\"\n[posterior]\nauto_prune = {below = 0.001}", "name = \"\x1b\"", "[kernels]\nbase = [\"SE\"]\ndepth = 3",
		"x = " + strings.Repeat("[", 100), "'\u009b' = 1", "[data]\nkernel = 'SE['", "[compare]\nmethods = ['vbks']",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := DefaultConfig().read(text, "f.toml", nil)
		if err != nil {
			checkMessage(t, err, len(text))
			return
		}
		again, err := DefaultConfig().read([]byte(c.TOML()), "again.toml", nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, c.TOML())
		}
		if again.TOML() != c.TOML() {
			t.Fatalf("%s\nbecomes\n%s", c.TOML(), again.TOML())
		}
		if c.Kernels.Base == nil || c.Kernels.Depth < 3 && len(c.Kernels.Base) < 10 { // else there may be 100,000
			if _, err := c.Kernels.Candidates(); err != nil {
				checkMessage(t, err, len(text))
			}
		}
	})
}

// A config that nests or repeats without end is an error, not the end of the
// program.
func TestConfigLimits(t *testing.T) {
	for what, c := range map[string]struct{ text, want string }{
		"brackets":       {"x = " + strings.Repeat("[", largestConfig-100), "line 1"},
		"closed ones":    {"x = " + strings.Repeat("[", 1<<17) + strings.Repeat("]", 1<<17), "nested more than"},
		"tables":         {"x = " + strings.Repeat("{a=", 80_000), "line 1"},
		"a dotted key":   {strings.Repeat("a.", 120_000) + "b = 1", "unknown"},
		"a long key":     {strings.Repeat("a", 200_000) + " = 1", "unknown key"},
		"many keys":      {strings.Repeat("seed = 1\n", 4_000), "line 2"},
		"many tables":    {strings.Repeat("[[a]]\n", 100_000), "a list of tables"},
		"many sections":  {numbered("[s%d]\n", 50_000), "more than 10000 keys"},
		"many in line":   {"x = {" + numbered("k%d = 1, ", 50_000) + "k = 1}", "more than 10000 keys"},
		"many in lists":  {"x = [" + numbered("{k%d = {k = 1}}, ", 25_000) + "1]", "more than 10000 keys"},
		"many weights":   {"[data]\npath = 'a'\n[kernels.weights]\n" + numbered("'SE[1%05d]' = 1.5\n", 4_900), ""},
		"many entries":   {numbered("k%d = 1\n", 50_000), "more than 10000 keys"},
		"many parts":     {"[data]\npath = 'a'\n[kernels.weights]\n" + numbered("'SE[1%05d]' = 1.5\n", 50_000), "more than 10000 keys"},
		"a long text":    {"name = \"" + strings.Repeat("a ", 100_000) + "\"", "must consist of"},
		"a large file":   {strings.Repeat("#\n", largestConfig), "larger than 1024 KiB"},
		"a long list":    {"[data]\npath='a'\ninputs = [" + strings.Repeat("1,", 120_000) + "]", ""},
		"nested kernels": {"[data]\npath='a'\n[kernels]\nexpressions = ['" + strings.Repeat("(", 200_000) + "']", "are open"},
	} {
		path := filepath.Join(t.TempDir(), "c.toml")
		must(t, os.WriteFile(path, []byte(c.text), 0o644))
		begin := time.Now()
		_, err := LoadConfig(path, nil)
		if took := time.Since(begin); took > 10*time.Second { // a fraction of a second where the time is linear
			t.Errorf("%s: took %v", what, took)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %.300v, want %q", what, err, c.want)
		}
	}
}

// numbered repeats a text with numbers in it.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// FuzzOverride: --set never does more than set a key, and says what is wrong.
func FuzzOverride(f *testing.F) {
	for _, s := range []string{"seed=2", "schedule.steps = 50", "kernels.expressions=SE, PER*LIN", "data.test=0.5", "data.inputs=[1,2]", "=", "a\n[data]=1", "posterior.auto_prune={below=1}"} {
		f.Add(s)
	}
	quickstart, _ := configs.Read("quickstart")
	f.Fuzz(func(t *testing.T, s string) {
		o, err := ParseOverride(s)
		if err != nil {
			checkMessage(t, err, len(s))
			return
		}
		c, err := DefaultConfig().read(quickstart, "quickstart", []Override{o})
		if err != nil {
			checkMessage(t, err, len(s))
			return
		}
		if _, err := DefaultConfig().read([]byte(c.TOML()), "again.toml", nil); err != nil {
			t.Fatalf("%q: %v in\n%s", s, err, c.TOML())
		}
	})
}

// FuzzSpace: a space written on one line is read, or its error points into it.
func FuzzSpace(f *testing.F) {
	for _, s := range []string{"K12", "SE, (PER + RQ)*LIN", "SE, LIN depth 2", "depth", "SE[depth 1]", ",", "SE[\"a,b\"], LIN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Count(s, ",") > 3 {
			return // up to 100,000 kernels
		}
		k, n, err := ParseSpace(s)
		if err != nil {
			checkMessage(t, err, len(s))
			var at *SpaceError
			if errors.As(err, &at) && (at.Col < 0 || at.Col > len([]rune(s))) {
				t.Fatalf("%q: column %d", s, at.Col)
			}
			return
		}
		if _, m, err := ParseSpace(k.Text()); err != nil || m != n {
			t.Fatalf("%q: %d kernels, as %q %d, %v", s, n, k.Text(), m, err)
		}
	})
}

// logOf is the event log of a short run, written by hand.
func logOf(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

func someEvents() []byte {
	return logOf(
		`{"v":1,"type":"run-started","time":"2026-01-02T15:04:05Z","seconds":0,"start":{"name":"a","config":"","data":{"name":"d","train":9,"test":1,"columns":[{"name":"x"},{"name":"y"}]},"planned":2,"kernels":[{"id":"SE","name":"SE","params":[{"name":"SE.variance","scale":1},{"name":"noise_variance","scale":1}]},{"id":"LIN","name":"LIN","fixed":[{"name":"c","value":1}]}]}}`,
		`{"v":1,"type":"state","time":"2026-01-02T15:04:06Z","seconds":1,"state":{"from":"ready","to":"running","reason":"started"}}`,
		`{"v":1,"type":"evaluation","time":"2026-01-02T15:04:07Z","seconds":2,"evaluation":{"index":1,"planned":2,"proportion":0.5,"rows_seen":5,"objective":"-Inf","kernels":[{"id":"SE","status":"live","fit":{"posterior":1,"bayes":"NaN","elbo":-3,"se":0,"rank":1,"params":[1,2]}},{"id":"LIN","status":"failed","reason":"no"}]}}`,
		`{"v":1,"type":"notice","time":"2026-01-02T15:04:08Z","notice":"kernel LIN failed: \u001b[31m"}`,
		`{"v":1,"type":"metrics","time":"2026-01-02T15:04:09Z","seconds":3,"metrics":[{"evaluation":1,"method":"vbks","rmse":1,"test_rows":1}]}`,
		`{"v":1,"type":"pruned","time":"2026-01-02T15:04:10Z","seconds":4,"kernels":["SE"],"evaluation":{"index":1,"planned":2,"kernels":[{"id":"SE","status":"pruned"}]}}`,
		`{"v":1,"type":"reoptimised","change":{"Steps":1}}`,
		`{"v":1,"type":"finished","state":{"from":"running","to":"finished","reason":"done"}}`,
	)
}

// strangeLogs are event logs, one as it should be and others that no run writes.
func strangeLogs() [][]byte {
	logs := [][]byte{someEvents()}
	for _, s := range []string{
		`{"v":1,"type":"run-started"}`, `{"v":1,"type":"evaluation","evaluation":{}}`, `{"v":1,"type":"metrics","metrics":[]}`, `{"v":9,"type":"x"}`, `{}`, `[]`, `null`, "\x00",
		`{"type":"evaluation","evaluation":{"kernels":[{"id":"a"},{"id":"a"}]}}`, `{"type":"state"}`, `{"type":"finished"}`, `{"type":"pruned"}`, `{"type":"reoptimised"}`, `{"type":"resumed"}`,
		strings.Repeat("[", 20_000),
	} {
		logs = append(logs, logOf(s, `{"v":1,"type":"notice","notice":"a"}`))
	}
	return logs
}

// FuzzEvents: whatever stands in an event log, those who read it go on or end
// with an error, and nothing of it steers a terminal.
func FuzzEvents(f *testing.F) {
	for _, log := range strangeLogs() {
		f.Add(log)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := newEventDecoder(bytes.NewReader(text))
		var events []Event
		h := &History{Capacity: 4}
		var out bytes.Buffer
		p := &Progress{Out: &out}
		for {
			e, err := d.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				checkMessage(t, err, len(text))
				break
			}
			events = append(events, *e)
			h.Apply(e)
			must(t, p.Record(e))
			fmt.Fprintln(&out, Describe(e))
		}
		must(t, Summarise(events).WriteText(&out, time.Unix(0, 0)))
		for k, id := range h.IDs() {
			if h.Index(id) != k {
				t.Fatalf("kernel %q is at %d and %d", id, k, h.Index(id))
			}
			s := h.Series(k, QuantityPosterior)
			for i := range s.Len() {
				s.At(i)
			}
		}
		h.ETA()
		for _, r := range out.String() {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Fatalf("%q", out.String())
			}
		}
	})
}

// FuzzTables: whatever stands in an event log, tables are made of it.
func FuzzTables(f *testing.F) {
	for _, log := range strangeLogs() {
		f.Add(log)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { null.Close() })
	f.Fuzz(func(t *testing.T, text []byte) {
		d := newEventDecoder(bytes.NewReader(text))
		w := &tables{kernels: map[string]KernelInfo{}, posterior: null, metrics: null, lazy: true}
		for e, err := d.next(); err == nil; e, err = d.next() {
			must(t, w.Record(e))
		}
	})
}

// endless gives the same byte for ever and counts.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '['
	}
	e.n += len(p)
	return len(p), nil
}

// A line that does not end is given up after the longest that there can be.
func TestEndlessLine(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in := &endless{}
	_, err := newEventDecoder(in).next()
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "line 1 is damaged: it does not end") {
		t.Error(err)
	}
	if in.n > longestLine+2<<20 {
		t.Errorf("%d bytes read", in.n)
	}
	// All that was ever allocated: the line's memory grows by a quarter at a time.
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*longestLine {
		t.Errorf("%d MiB allocated", n>>20)
	}
}

// FuzzCheckpoint: bytes are refused, or are arrays that are written and read as
// the same.
func FuzzCheckpoint(f *testing.F) {
	var b bytes.Buffer
	if err := writeNPZ(&b, checkpointArrays()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	b.Reset()
	if err := writeNPZ(&b, map[string]vbks.Tensor{"a": {Shape: []int{2}, Data: []float64{1, 2}}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, text []byte) {
		arrays, err := readNPZ(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			checkMessage(t, err, len(text))
			return
		}
		var b bytes.Buffer
		must(t, writeNPZ(&b, arrays))
		again, err := readNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil || !sameArrays(arrays, again) {
			t.Fatalf("%v: %v becomes %v", err, arrays, again)
		}
	})
}

// sameArrays compares bits: NaN may be among them.
func sameArrays(a, b map[string]vbks.Tensor) bool {
	return maps.EqualFunc(a, b, func(x, y vbks.Tensor) bool {
		return slices.Equal(x.Shape, y.Shape) && slices.EqualFunc(x.Data, y.Data, func(v, w float64) bool {
			return math.Float64bits(v) == math.Float64bits(w)
		})
	})
}

// FuzzResume changes one array of a checkpoint of a real run: it is refused
// with a reason, or the trainer stands there with finite numbers.
func FuzzResume(f *testing.F) {
	c, err := LoadConfig("quickstart", []Override{
		{Key: "data.outputs", Value: "30"}, {Key: "data.test", Value: "5"}, {Key: "kernels.expressions", Value: "SE, LIN+RQ"}, {Key: "sparse.inducing", Value: "4"},
		{Key: "optimise.starts", Value: "1"}, {Key: "schedule.evaluate_every", Value: "1"}, {Key: "schedule.refine", Value: "0"},
		{Key: "schedule.steps", Value: "3"}, {Key: "optimise.optimizer", Value: "natural"}, {Key: "device.lanes", Value: "1"},
	})
	if err != nil {
		f.Fatal(err)
	}
	j, err := Prepare(f.Context(), c)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { j.Close() })
	if _, err := j.trainer.Next(f.Context()); err != nil {
		f.Fatal(err)
	}
	arrays := j.trainer.Checkpoint()
	names := slices.Sorted(maps.Keys(arrays))
	for i := range names {
		f.Add(uint8(i), uint16(0), -1.0, uint8(0))
		f.Add(uint8(i), uint16(1), 1e300, uint8(1))
		f.Add(uint8(i), uint16(2), math.NaN(), uint8(2))
		f.Add(uint8(i), uint16(3), 0.5, uint8(3))
	}
	f.Fuzz(func(t *testing.T, array uint8, at uint16, value float64, how uint8) {
		changed := maps.Clone(arrays)
		name := names[int(array)%len(names)]
		a := changed[name]
		a.Data = slices.Clone(a.Data)
		switch how % 5 {
		case 0, 1:
			if len(a.Data) > 0 {
				a.Data[int(at)%len(a.Data)] = value
			}
		case 2:
			a.Data = a.Data[:int(at)%(len(a.Data)+1)]
		case 3:
			a.Data = append(a.Data, value)
		case 4:
			delete(changed, name)
		}
		if how%5 != 4 {
			changed[name] = a
		}
		s := j.subject
		trainer, err := vbks.Resume(t.Context(), j.dev, s.train, s.space, s.columns, s.settings, changed)
		if err != nil {
			checkMessage(t, err, 0)
			return
		}
		e := trainer.Last()
		if e == nil {
			return
		}
		for i := range e.Kernels {
			k := &e.Kernels[i]
			if k.Status == vbks.Live && (math.IsNaN(k.Posterior) || math.IsNaN(k.ELBO) || math.IsInf(k.ELBO, 0)) {
				t.Fatalf("%s %d: %+v", name, at, k)
			}
		}
		if !reflect.DeepEqual(trainer.Checkpoint()["kernels"], arrays["kernels"]) {
			t.Fatal("other kernels")
		}
	})
}
