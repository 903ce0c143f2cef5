package config

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"example.com/kestrel/configs"
)

func TestParseSpace(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  KernelSpace
		count int
	}{
		{"k12", KernelSpace{Set: "K12"}, 12},
		{" K144 ", KernelSpace{Set: "K144"}, 144},
		{"SE", KernelSpace{Expressions: []string{"SE"}}, 1},
		{"(PER + RQ)*LIN, SE", KernelSpace{Expressions: []string{"(PER + RQ)*LIN", "SE"}}, 2},
		{"SE+PER ,PER+SE", KernelSpace{Expressions: []string{"SE+PER", "PER+SE"}}, 1}, // one kernel written twice
		{"SE[1,2],LIN", KernelSpace{Expressions: []string{"SE[1,2]", "LIN"}}, 2},
		{"SE[depth], LIN[water depth]", KernelSpace{Expressions: []string{"SE[depth]", "LIN[water depth]"}}, 2},
		// 4 kernels of one, 10 sums and 10 products of two, and 120 of three.
		{"SE,RQ,LIN,PER depth 1", KernelSpace{Base: []string{"SE", "RQ", "LIN", "PER"}, Depth: 1}, 4},
		{"SE, RQ, LIN, PER Depth  2", KernelSpace{Base: []string{"SE", "RQ", "LIN", "PER"}, Depth: 2}, 24},
		{"SE, RQ, LIN, PER, depth 3 ", KernelSpace{Base: []string{"SE", "RQ", "LIN", "PER"}, Depth: 3}, 144},
		{"SE[depth]depth 2", KernelSpace{Base: []string{"SE[depth]"}, Depth: 2}, 3},
	} {
		got, count, err := ParseSpace(c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) || count != c.count {
			t.Errorf("%q: %+v, %d kernels, %v; want %+v, %d", c.text, got, count, err, c.want, c.count)
		}
	}
}

func TestParseSpaceErrors(t *testing.T) {
	for _, c := range []struct {
		text, at, msg string // at: as much of the text as stands before the error
	}{
		{"", "", "nothing is written"},
		{"  ", "", "nothing is written"},
		{"SE, FOO", "SE, ", `no kernel "FOO"`},
		{"SE, (PER + RQ*LIN", "SE, (PER + RQ*LIN", `expected ")" to close the "(" at column 5`},
		{"SE,, PER", "SE,", "expected a kernel"},
		{"SE, ", "SE, ", "expected a kernel"},
		{", SE", "", "expected a kernel"},
		{"SE RQ", "SE ", "comma"},
		{"SE, SE, SE PER", "SE, SE, SE ", "comma"},
		{"é, SE", "", "no kernel"},
		{"SE × é", "SE × ", "no kernel"}, // columns count runes, not bytes
		{"K12, SE", "", "stands alone"},
		{"SE, k144 depth 2", "SE, ", "stands alone"},
		{"SE depth", "SE depth", "whole number"},
		{"SE depth two", "SE depth ", "whole number"},
		{"SE depth 9", "SE depth ", "from 1 to 8"},
		{"SE depth 0", "SE depth ", "from 1 to 8"},
		{"depth 2", "", "expected a kernel"},
		{"SE,RQ,LIN,PER,M12,M32,M52 depth 8", "SE,RQ,LIN,PER,M12,M32,M52 ", "lower the depth"},
	} {
		_, _, err := ParseSpace(c.text)
		var e *SpaceError
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if e.Col != len([]rune(c.at)) || !strings.Contains(e.Msg, c.msg) || e.Text != c.text {
			t.Errorf("%q: column %d, %s; want column %d, … %s …", c.text, e.Col, e.Msg, len([]rune(c.at)), c.msg)
		}
	}
}

// What a space is written as is read as that space, and turns any config into
// one that has it.
func TestSpaceTextRoundTrip(t *testing.T) {
	spaces := []KernelSpace{
		{Set: "K144"},
		{Expressions: []string{"(PER + RQ)*LIN", `SE["a]b,c"]`, "LIN[x, y; ard]"}},
		{Base: []string{"SE*PER", "RQ[1,2]"}, Depth: 3},
	}
	for _, name := range configs.Names() {
		c, err := Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		spaces = append(spaces, c.Kernels)
	}
	for i, k := range spaces {
		if i != 1 { // commas within brackets within quotes cannot be divided on one line
			got, _, err := ParseSpace(k.Text())
			if err != nil || !reflect.DeepEqual(got, k) {
				t.Errorf("%q: %+v, %v", k.Text(), got, err)
			}
		}
		for _, name := range []string{"fig1a", "quickstart"} {
			c, err := Load(name, k.Overrides())
			if err != nil || !reflect.DeepEqual(c.Kernels, k) {
				t.Errorf("%s with %v: %+v, %v", name, k.Overrides(), c.Kernels, err)
			}
		}
	}
}

func TestTextOverride(t *testing.T) {
	for _, text := range []string{"y", "7", "1.5", "true", "inf", "nan", `"quoted"`, "[1]", "2020-01-01", " padded ", "a#b", "007", "été",
		`back\slash`, ""} {
		c, err := ForTable("x.csv", "other", []Override{TextOverride("data.target", text), ListOverride("data.inputs", []string{text, "x"})})
		if err != nil || c.Data.Target != text || !reflect.DeepEqual(c.Data.Inputs, []string{text, "x"}) {
			t.Errorf("%q: %q, %q, %v", text, c.Data.Target, c.Data.Inputs, err)
		}
	}
	if o := TextOverride("data.target", "y"); o.Value != "y" || o.Flag != "--set data.target=y" {
		t.Errorf("%+v: a plain name needs no quotes", o)
	}
}
