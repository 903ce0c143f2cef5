package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/configs"
	"example.com/kestrel/experiment/words/wordstest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// FuzzConfig: what is read as a config is written as one that reads the same.
func FuzzConfig(f *testing.F) {
	for _, name := range configs.Names() {
		text, _ := configs.Read(name)
		f.Add(text)
	}
	for _, s := range []string{
		"", "[data]\npath = 'a.csv'\ninputs = [1, 'b']", "a.b.c = 1", "[kernels]\nweights = {SE = 2.0}", "seed = 1\nseed = 2", "[[data]]",
		"[data]\npath = \"a\"\n[schedule]\nbudget = \"10m\"\n[posterior]\nauto_prune = {below = 0.001}", "name = \"\x1b\"",
		"[kernels]\nbase = [\"SE\"]\ndepth = 3",
		"x = " + strings.Repeat("[", 100), "'\u009b' = 1", "[data]\nkernel = 'SE['", "[compare]\nmethods = ['vbks']",
		"[data]\npath='a'\n[optimise.fix]\nPER.period = '7 d'\n[optimise.bound]\n'SE#2.lengthscale[\\\"a\\\"]' = [1, '2']\n" +
			"[optimise.prior]\nnoise = {median = 1, factor = 2}\n[kernels]\nmean = 'none'",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Default().Read(text, "f.toml", nil)
		if err != nil {
			wordstest.CheckMessage(t, err, len(text))
			return
		}
		again, err := Default().Read([]byte(c.TOML()), "again.toml", nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, c.TOML())
		}
		if again.TOML() != c.TOML() {
			t.Fatalf("%s\nbecomes\n%s", c.TOML(), again.TOML())
		}
		if c.Kernels.Base == nil || c.Kernels.Depth < 3 && len(c.Kernels.Base) < 10 { // else there may be 100,000
			if _, err := c.Kernels.Candidates(); err != nil {
				wordstest.CheckMessage(t, err, len(text))
			}
		}
	})
}

// A config that nests or repeats without end is an error, not the end of the
// program.
func TestConfigLimits(t *testing.T) {
	thorough.Unraced(t)
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
		must.OK(t, os.WriteFile(path, []byte(c.text), 0o644))
		begin := time.Now()
		_, err := Load(path, nil)
		// A fraction of a second where the time is linear and the machine idle.
		if took := time.Since(begin); took > 2*time.Minute {
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
	for _, s := range []string{"seed=2", "schedule.steps = 50", "kernels.expressions=SE, PER*LIN", "data.test=0.5", "data.inputs=[1,2]", "=",
		"a\n[data]=1", "posterior.auto_prune={below=1}", "optimise.fix.PER.period[a b]=7 d", "optimise.prior={noise={median=1,factor=2}}",
		"optimise.bound.CP#1.place=[-1,2]", "optimise.fix.\x1b=1", "kernels.mean=none"} {
		f.Add(s)
	}
	quickstart, _ := configs.Read("quickstart")
	f.Fuzz(func(t *testing.T, s string) {
		o, err := ParseOverride(s)
		if err != nil {
			wordstest.CheckMessage(t, err, len(s))
			return
		}
		c, err := Default().Read(quickstart, "quickstart", []Override{o})
		if err != nil {
			wordstest.CheckMessage(t, err, len(s))
			return
		}
		if _, err := Default().Read([]byte(c.TOML()), "again.toml", nil); err != nil {
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
			wordstest.CheckMessage(t, err, len(s))
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
