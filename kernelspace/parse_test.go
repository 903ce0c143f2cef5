package kernelspace

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestParseForms(t *testing.T) {
	for _, c := range []struct{ in, id, plain, letters string }{
		{"(PER + RQ) * LIN", "(PER+RQ)*LIN", "(PER + RQ)×LIN", "(p+r)×l"},
		{"(p+r)*l", "(PER+RQ)*LIN", "(PER + RQ)×LIN", "(p+r)×l"},
		{"lin×(rq+per)", "(PER+RQ)*LIN", "(PER + RQ)×LIN", "(p+r)×l"},
		{"SE+PER·LIN", "PER*LIN+SE", "PER×LIN + SE", "p×l+s"},
		{"((SE))", "SE", "SE", "s"},
		{"rbf+M32+MAT12+white+bias+Cosine", "SE+MATERN12+MATERN32+COS+CONST+WN", "SE + MATERN12 + MATERN32 + COS + CONST + WN",
			"s+m12+m32+cos+c+w"},
		{"SE+(RQ+(SE+LIN))", "LIN+RQ+SE+SE", "LIN + RQ + SE + SE", "l+r+s+s"},
		{"SE*(RQ*LIN)", "LIN*RQ*SE", "LIN×RQ×SE", "l×r×s"},
		{"SE[ time , 2 ;ARD ]", "SE[2,time;ard]", "SE[2,time;ard]", "s[2,time;ard]"},
		{"(SE+PER)[1]*LIN", "(PER[1]+SE[1])*LIN", "(PER[1] + SE[1])×LIN", "(p[1]+s[1])×l"},
		{"(SE[;iso]+RQ)[1,2]", "RQ[1,2]+SE[1,2;iso]", "RQ[1,2] + SE[1,2;iso]", "r[1,2]+s[1,2;iso]"},
		{`SE["a, b",Größe,temp (°C)]`, `SE["Gr\u00f6\u00dfe","a, b","temp (\u00b0C)"]`, `SE[Größe,"a, b",temp (°C)]`,
			`s[Größe,"a, b",temp (°C)]`},
		{`SE["12"]`, `SE["12"]`, `SE["12"]`, `s["12"]`},
	} {
		e, err := Parse(c.in)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.in, err)
			continue
		}
		if e.ID() != c.id || e.String() != c.plain || e.Letters() != c.letters {
			t.Errorf("%q: got %q, %q, %q; want %q, %q, %q", c.in, e.ID(), e.String(), e.Letters(), c.id, c.plain, c.letters)
		}
	}
}

// The order of terms stays as written: golden data list leaves that way.
func TestParseKeepsOrder(t *testing.T) {
	e := parse(t, "SE + LIN*(RQ+PER)*SE")
	var names []string
	for _, l := range e.Leaves() {
		names = append(names, l.Base())
	}
	if got := strings.Join(names, " "); got != "SE LIN RQ PER SE" {
		t.Errorf("leaves %s", got)
	}
	if got := e.Written(); got != "SE+LIN*(RQ+PER)*SE" {
		t.Errorf("Written %s", got)
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("(", MaxNesting+1) + "SE" + strings.Repeat(")", MaxNesting+1)
	long := strings.Repeat("SE+", MaxLeaves) + "SE"
	for _, c := range []struct {
		in  string
		col int // 0-based
		msg string
	}{
		{"PER*(LIN+RQ", 11, `expected ")" to close the "(" at column 5`},
		{"PER*(LIN+RQ  ", 13, `to close the "(" at column 5`},
		{"((SE)", 5, `at column 1`},
		{"SE)", 2, `remove ")"`},
		{"", 0, "empty"},
		{"  ", 2, "empty"},
		{"SE+", 3, "expected a kernel"},
		{"SE+*LIN", 3, `found "*"`},
		{"()", 1, "nothing between"},
		{"SE LIN", 3, `expected "+" or "*"`},
		{"SE(LIN)", 2, `expected "+" or "*"`},
		{"SE^2", 2, "products"},
		{"2*SE", 0, "number"},
		{"SE-LIN", 2, `found "-"`},
		{"LIN×PRE", 4, "did you mean PER?"},
		{"LIM", 0, "did you mean LIN?"},
		{"MATERN22", 0, "did you mean MATERN"},
		{"PERIODC", 0, "did you mean PERIODIC?"},
		{"XYZZYPLUGH", 0, "known: PER, LIN, RQ, SE"},
		{"prl", 0, "p*r*l"},
		{"SE[", 3, `"]"`},
		{"SE[]", 3, "name or number"},
		{"SE[0]", 3, "counted from 1"},
		{"SE[99999999999999999999]", 3, "counted from 1"},
		{"SE[a,a]", 5, "twice"},
		{"SE[a;both]", 5, "ard or iso"},
		{"SE[a", 4, `"]" to close the "[" at column 3`},
		{`SE["a]`, 3, "does not end"},
		{`SE[""]`, 3, "empty"},
		{"(SE[1]+LIN)[2]", 11, "SE before it already has one"},
		{"[1]", 0, "behind a kernel"},
		{"é+ü", 0, "no kernel"},
		{deep, MaxNesting, "100"},
		{long, 3 * MaxLeaves, "1000"},
	} {
		e, err := Parse(c.in)
		var se *SyntaxError
		if !errors.As(err, &se) {
			t.Errorf("Parse(%.30q) = %s, %v; want a *SyntaxError", c.in, e, err)
			continue
		}
		if se.Col != c.col || !strings.Contains(se.Msg, c.msg) {
			t.Errorf("Parse(%.30q): column %d %q; want column %d %q", c.in, se.Col, se.Msg, c.col, c.msg)
		}
		if strings.Contains(se.Error(), "\n") {
			t.Errorf("%q has more than one line", se.Error())
		}
		if !e.IsZero() {
			t.Errorf("Parse(%.30q) returns an expression beside its error", c.in)
		}
	}
}

func TestCaret(t *testing.T) {
	_, err := Parse("PER*(LIN+RQ")
	var se *SyntaxError
	if !errors.As(err, &se) {
		t.Fatal(err)
	}
	if got, want := se.Caret(), "PER*(LIN+RQ\n           ^"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	contains(t, se.Error(), "column 12")
	_, err = Parse("SE×\tPRE")
	if !errors.As(err, &se) {
		t.Fatal(err)
	}
	if got, want := se.Caret(), "SE× PRE\n    ^"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// roundTrip checks that every way of printing reads back as the same kernel.
func roundTrip(t *testing.T, e Expr) {
	t.Helper()
	for _, text := range []string{e.ID(), e.String(), e.Letters(), e.Written()} {
		f, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: reading %q back: %v", e.ID(), text, err)
		}
		if f.ID() != e.ID() || !f.Equal(e) || Compare(f, e) != 0 {
			t.Fatalf("%q reads back as %s, not %s", text, f.ID(), e.ID())
		}
	}
	for _, r := range e.ID() {
		if r <= ' ' && r != ' ' || r > '~' {
			t.Fatalf("%q is not printable ASCII", e.ID())
		}
	}
	if f := parse(t, e.Written()); f.Written() != e.Written() {
		t.Fatalf("%q reads back in the order %q", e.Written(), f.Written())
	}
	if c := e.Canonical(); c.Written() != e.ID() || c.ID() != e.ID() {
		t.Fatalf("canonical form of %s is not its own: %s", e.ID(), c.Written())
	}
}

func TestRoundTrip(t *testing.T) {
	for _, e := range testSpace(t) {
		roundTrip(t, e)
	}
	r := newRand(1)
	for range 500 {
		roundTrip(t, randomExpr(r, 1+r.IntN(8)))
	}
}

func TestJSON(t *testing.T) {
	type record struct{ Kernel Expr }
	for _, s := range []string{"SE+LIN*(RQ+PER)", "", "SE[;ard]"} {
		var in, out record
		if s != "" {
			in.Kernel = parse(t, s)
		}
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatal(err)
		}
		if out.Kernel.Written() != s {
			t.Errorf("%q comes back as %q by %s", s, out.Kernel.Written(), data)
		}
	}
	var e Expr
	if err := e.UnmarshalText([]byte("SE+")); err == nil {
		t.Error("bad text is accepted")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"PER*(LIN+RQ", "(PER+RQ)*LIN", "s*r+p·l", "SE[1,time;ard]", `SE["a\x00\"b"]`, "SE[\xff]", "((((SE))))", "SE[;]", "SE[1][;iso]",
		"WN×CONST+POLY2", "SE+\n\tRQ", "", "SE[ a b ]", "SE[٣]", "SE[\u00a0x]", `SE["\xff"]`, "(SE+PER)[a]*(LIN)[b;ard]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err != nil {
			var se *SyntaxError
			if !errors.As(err, &se) {
				t.Fatalf("%T", err)
			}
			if se.Col < 0 || se.Col > len([]rune(s)) || se.Msg == "" || se.Input != s {
				t.Fatalf("%+v", se)
			}
			if lines := strings.Split(se.Caret(), "\n"); len(lines) != 2 {
				t.Fatalf("caret has %d lines", len(lines))
			}
			return
		}
		roundTrip(t, e)
	})
}
