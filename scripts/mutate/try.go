package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A workshop is where mutants are made and tried.
type workshop struct {
	asked
	m      module
	tmp    string
	env    []string
	known  map[string][]test
	hashes map[string]uint64
}

func newWorkshop(a asked, m module) (*workshop, error) {
	w := &workshop{asked: a, m: m, known: map[string][]test{}, hashes: map[string]uint64{}}
	var err error
	if w.tmp, err = os.MkdirTemp("", "mutate"); err != nil {
		return nil, err
	}
	// What go keeps stays where it is; tests and what they start have a home of their own.
	where, err := output("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH")
	if err != nil {
		return nil, err
	}
	places := strings.Split(where, "\n")
	w.env = append(os.Environ(), "CGO_ENABLED=0", "GOCACHE="+places[0], "GOMODCACHE="+places[1], "GOPATH="+places[2])
	return w, nil
}

func (w *workshop) close() { os.RemoveAll(w.tmp) }

// group tries the first sites of a group that compile, as many as are wanted, but for
// those that were tried before.
func (w *workshop) group(ctx context.Context, group string, sites []site, want int, t *table) error {
	for _, s := range sites {
		if want == 0 {
			break
		}
		r, known := t.rows[s.key()]
		known = known && !t.anew[s.key()]
		switch {
		case !known && w.list:
			fmt.Print(s.text())
		case !known && !w.deadline.IsZero() && time.Now().After(w.deadline):
			fmt.Printf("%d of %s are left\n", want, group)
			return nil
		case !known:
			began := time.Now()
			verdict, by, err := w.try(ctx, s)
			if err = errors.Join(err, context.Cause(ctx)); err != nil { // what was stopped has noticed nothing
				return err
			}
			r = row{s, verdict, by, time.Since(began).Seconds()}
			if err := t.add(r); err != nil {
				return err
			}
			fmt.Println(r.text())
		}
		if r.verdict != invalid {
			want--
		}
	}
	return nil
}

// try runs the tests that reach a mutant until one fails, and says which did.
func (w *workshop) try(ctx context.Context, s site) (verdict, by string, err error) {
	src, err := os.ReadFile(w.m.at(s.file))
	if err != nil {
		return "", "", err
	}
	changed, overlay := filepath.Join(w.tmp, "changed.go"), filepath.Join(w.tmp, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {w.m.at(s.file): changed}})
	if err != nil {
		return "", "", err
	}
	for name, text := range map[string][]byte{changed: s.change(src), overlay: text} {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return "", "", err
		}
	}
	own := path.Dir(s.file)
	verdict, beyond := unreached, 0
	var run []string
	for _, tester := range w.m.testers(own) {
		if slices.Contains(w.without, tester) {
			continue
		}
		if tester != own {
			if beyond == w.beyond {
				break
			}
			beyond++
		}
		tests, err := w.covered(ctx, tester)
		if err != nil {
			return "", "", err
		}
		tests = slices.DeleteFunc(slices.Clone(tests), func(t test) bool { return !t.reaches(s, w.now) })
		if len(tests) == 0 {
			continue
		}
		program := filepath.Join(w.tmp, "mutant.test")
		if said, err := w.compile(ctx, tester, program, "-overlay="+overlay); err != nil {
			return invalid, join(said), nil
		}
		verdict = survived
		left := w.most
		for _, batch := range batches(tests) {
			batch = affordable(batch, &left)
			if len(batch) == 0 {
				break
			}
			if failed := w.test(ctx, tester, program, batch); failed != "" {
				return killed, tester + " " + failed, nil
			}
		}
		run = append(run, fmt.Sprintf("%s %.0f of %.0f s", tester, w.most-left, total(tests)))
	}
	if verdict == unreached {
		if said, err := w.goTool(ctx, "build", "-overlay="+overlay, w.m.packs[own].ImportPath); err != nil {
			return invalid, join(said), nil
		}
	}
	return verdict, strings.Join(run, ", "), nil
}

// batches are tests that are run in one process: first the quick ones.
func batches(tests []test) (all [][]test) {
	sum, until := 0., 2.
	for i, t := range tests {
		if i == 0 || sum > until {
			all = append(all, nil)
			if i > 0 {
				until = 4 * sum
			}
		}
		sum += t.Seconds
		all[len(all)-1] = append(all[len(all)-1], t)
	}
	return all
}

// affordable are the first tests for which there is time left.
func affordable(tests []test, left *float64) []test {
	for i, t := range tests {
		if t.Seconds > *left {
			return tests[:i]
		}
		*left -= t.Seconds
	}
	return tests
}

func total(tests []test) (sum float64) {
	for _, t := range tests {
		sum += t.Seconds
	}
	return sum
}

var failing = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
var hanging = regexp.MustCompile(`(?m)^panic: test timed out[^\n]*\n\s*running tests:\n\s*(\S+)`)

// test runs tests until one fails, which it names. They have four times as long as they
// usually take, and 20 seconds.
func (w *workshop) test(ctx context.Context, tester, program string, tests []test) string {
	names := make([]string, len(tests))
	for i, t := range tests {
		names[i] = t.Name
	}
	time := time.Duration((20 + 4*total(tests)) * float64(time.Second))
	said, err := w.start(ctx, tester, program, time, "-test.failfast", "-test.run=^("+strings.Join(names, "|")+")$")
	if err == nil {
		return ""
	}
	if f := hanging.FindStringSubmatch(said); f != nil {
		return f[1] + " hangs"
	}
	if f := failing.FindStringSubmatch(said); f != nil {
		return f[1]
	}
	return "ends: " + err.Error()
}

// compile makes the program of a package's tests.
func (w *workshop) compile(ctx context.Context, tester, program string, args ...string) (said string, err error) {
	args = slices.Concat([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", program}, args, []string{w.m.packs[tester].ImportPath})
	return w.goTool(ctx, args...)
}

// start runs the program of a package's tests where go test would, with a home and a
// folder for temporary files that are gone afterwards.
func (w *workshop) start(ctx context.Context, tester, program string, most time.Duration, args ...string) (said string, err error) {
	home, err := os.MkdirTemp("", "m")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(home)
	ctx, cancel := context.WithTimeout(ctx, most+30*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, program, append([]string{"-test.paniconexit0", "-test.timeout=" + most.String()}, args...)...)
	c.Dir, c.WaitDelay = w.m.packs[tester].Dir, 10*time.Second
	c.Env = append(slices.Clone(w.env), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "TMPDIR="+home)
	text, err := c.CombinedOutput()
	return string(text), err
}

func (w *workshop) goTool(ctx context.Context, args ...string) (said string, err error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Env = w.env
	text, err := c.CombinedOutput()
	return string(text), err
}
