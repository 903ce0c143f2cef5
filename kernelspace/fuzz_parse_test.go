package kernelspace

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What is too large ends in an error that names the limit, at once and with a
// short message.
func TestParseLimits(t *testing.T) {
	million := strings.Repeat("SE+", 1_000_000)
	for what, c := range map[string]struct{ text, want string }{
		"ten million leaves":             {strings.Repeat(million, 10) + "SE", "bytes, more than"},
		"100,000 leaves":                 {strings.Repeat("SE*", 100_000) + "SE", "more than 1000 base kernels"},
		"100,000 parentheses":            {strings.Repeat("(", 100_000) + "SE" + strings.Repeat(")", 100_000), `more than 100 "(" are open`},
		"100,000 closing ones":           {"SE" + strings.Repeat(")", 100_000), `no "(" is open`},
		"a name of a million characters": {strings.Repeat("x", 1_000_000), "no kernel"},
		"a million letters":              {strings.Repeat("s", 1_000_000), "no kernel"},
		"a million spaces":               {strings.Repeat(" ", 1_000_000), "is empty"},
		"a quote that does not end":      {`SE["` + strings.Repeat("x", 1_000_000), "does not end"},
		"a column twice":                 {`SE["a","a"]`, "stands twice"},
		"scopes without end":             {"SE" + strings.Repeat("[1]", 300_000), "already has one"},
		"columns without end":            {"SE[" + numbers(100_000) + "]", "more than 1000 columns"},
	} {
		begin := time.Now()
		_, err := Parse(c.text)
		// Generous for a loaded machine; what is not linear takes minutes.
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s: took %v", what, took)
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %.200v, want %q", what, err, c.want)
			continue
		}
		if n := len(err.Error()) + len(syntax.Caret()); n > 1500 {
			t.Errorf("%s: %d bytes of message", what, n)
		}
	}
	if _, err := Parse(strings.Repeat("(", MaxNesting) + "SE" + strings.Repeat(")", MaxNesting)); err != nil {
		t.Error(err)
	}
	if e, err := Parse(strings.Repeat("SE+", MaxLeaves-1) + "SE[" + strings.TrimSuffix(numbers(MaxColumns), ",") + "]"); err != nil ||
		e.NumLeaves() != MaxLeaves {
		t.Error(err)
	}
}

// numbers lists 1 to n.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strconv.Itoa(i+1) + ",")
	}
	return b.String()
}

// FuzzKernel looks for expressions that Parse takes and the rest does not.
func FuzzKernel(f *testing.F) {
	for _, s := range []string{"(PER+RQ)*LIN", "SE[1,time;ard]*(LIN+WN)", "POLY3+COS*CONST", "(SE+PER)[a]*LIN[b;ard]",
		"((SE+RQ)*(SE+RQ)+SE)*SE[2]"} {
		f.Add(s, uint8(2))
	}
	f.Fuzz(func(t *testing.T, s string, dim uint8) {
		e, err := Parse(s)
		if err != nil || e.NumLeaves() > 30 {
			return
		}
		roundTrip(t, e)
		c := e.Canonical()
		if !c.Equal(e) || c.ID() != e.ID() || Compare(c, e) != 0 || c.NumLeaves() != e.NumLeaves() {
			t.Fatalf("%q is not its canonical form %q", s, c.ID())
		}
		n := int(dim%4) + 1
		p, err := Compile(c, Options{Columns: []string{"a", "b", "time", "x"}[:n], Dim: n})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q", err)
			}
			return
		}
		if p.ID != c.ID() || len(p.Params) < e.NumLeaves() {
			t.Fatalf("%q: program of %q with %d parameters", s, p.ID, len(p.Params))
		}
	})
}
