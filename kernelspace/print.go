package kernelspace

import (
	"fmt"
	"strings"
)

// style is one way to write an expression down.
type style struct {
	plus, times string
	letters     bool
	ascii       bool
}

// ID returns the canonical expression in ASCII without spaces, e.g.
// "(PER+RQ)*LIN". It is the kernel's identity, and Parse reads it. It is ""
// for the zero Expr.
func (e Expr) ID() string {
	return e.Canonical().text(style{plus: "+", times: "*", ascii: true})
}

// String returns the canonical expression for reading, e.g. "(PER + RQ)×LIN".
// Parse reads it.
func (e Expr) String() string {
	return e.Canonical().text(style{plus: " + ", times: "×"})
}

// Letters returns the canonical expression in the letters of the paper's
// legends, e.g. "(p+r)×l", with short names for kernels beyond the paper.
// Parse reads it.
func (e Expr) Letters() string {
	return e.Canonical().text(style{plus: "+", times: "×", letters: true})
}

// Written returns the expression in ASCII with its terms in the order as
// given, which is the order of a Program's leaves. Parse reads it.
func (e Expr) Written() string {
	return e.text(style{plus: "+", times: "*", ascii: true})
}

// MarshalText implements encoding.TextMarshaler by Written.
func (e Expr) MarshalText() ([]byte, error) { return []byte(e.Written()), nil }

// UnmarshalText implements encoding.TextUnmarshaler by Parse; the empty text
// is the zero Expr.
func (e *Expr) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*e = Expr{}
		return nil
	}
	parsed, err := Parse(string(text))
	if err != nil {
		return fmt.Errorf("reading a kernel: %w", err)
	}
	*e = parsed
	return nil
}

func (e Expr) text(s style) string {
	if e.root == nil {
		return ""
	}
	var b strings.Builder
	e.root.write(&b, s)
	return b.String()
}

func (n *node) write(b *strings.Builder, s style) {
	if n.kind == kindLeaf {
		info := n.base.info()
		if s.letters {
			b.WriteString(info.letter)
		} else {
			b.WriteString(info.name)
		}
		b.WriteString(n.scope.text(s.ascii))
		return
	}
	if n.kind == kindChange {
		name, comma := nameChange, ","
		if s.letters {
			name = n.terms[0].base.info().letter
		} else if s.plus != "+" {
			comma = ", "
		}
		b.WriteString(name + "(")
		n.terms[1].write(b, s)
		b.WriteString(comma)
		n.terms[2].write(b, s)
		b.WriteString(")" + n.terms[0].scope.text(s.ascii))
		return
	}
	join := s.times
	if n.kind == kindSum {
		join = s.plus
	}
	for i, t := range n.terms {
		if i > 0 {
			b.WriteString(join)
		}
		if t.kind == kindSum {
			b.WriteByte('(')
			t.write(b, s)
			b.WriteByte(')')
		} else {
			t.write(b, s)
		}
	}
}
