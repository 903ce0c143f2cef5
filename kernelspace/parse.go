package kernelspace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Limits of an expression that Parse accepts.
const (
	MaxText    = 1 << 20 // bytes
	MaxNesting = 100     // parentheses within parentheses
	MaxLeaves  = 1000    // base kernels
	MaxColumns = 1000    // in one scope
)

// Parse reads an expression in the language of the package comment. The order
// of the terms is kept; see Expr.Canonical. Errors are *SyntaxError.
func Parse(s string) (Expr, error) {
	if len(s) > MaxText {
		return Expr{}, &SyntaxError{Input: s, Msg: fmt.Sprintf("the expression has %d bytes, more than %d; write a shorter one", len(s), MaxText)}
	}
	p := parser{input: s, text: []rune(s)}
	root, err := p.sum()
	if err != nil {
		return Expr{}, err
	}
	if p.at < len(p.text) {
		return Expr{}, p.unexpected()
	}
	return Expr{root}, nil
}

// parser is a recursive descent over the grammar; one method per rule.
type parser struct {
	input  string
	text   []rune
	at     int // the next rune
	open   []int
	leaves int
}

func (p *parser) fail(col int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Input: p.input, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// peek skips spaces and returns the next rune, or 0 at the end.
func (p *parser) peek() rune {
	for p.at < len(p.text) && unicode.IsSpace(p.text[p.at]) {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) sum() (*node, error) {
	return p.list(kindSum, p.product, func(r rune) bool { return r == '+' })
}

func (p *parser) product() (*node, error) {
	return p.list(kindProduct, p.factor, func(r rune) bool { return r == '*' || r == '×' || r == '·' })
}

func (p *parser) list(k kind, item func() (*node, error), separator func(rune) bool) (*node, error) {
	var terms []*node
	for {
		t, err := item()
		if err != nil {
			return nil, err
		}
		terms = append(terms, t)
		if !separator(p.peek()) {
			return combine(k, terms), nil
		}
		p.at++
	}
}

func (p *parser) factor() (*node, error) {
	var n *node
	var err error
	switch r := p.peek(); {
	case r == '(':
		n, err = p.group()
	case unicode.IsLetter(r) || r == '_':
		n, err = p.leaf()
	default:
		return nil, p.missingKernel(r)
	}
	if err != nil {
		return nil, err
	}
	for p.peek() == '[' {
		if n, err = p.scoped(n); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (p *parser) group() (*node, error) {
	if len(p.open) == MaxNesting {
		return nil, p.fail(p.at, `more than %d "(" are open; write the expression flatter`, MaxNesting)
	}
	p.open = append(p.open, p.at)
	p.at++
	n, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.peek() != ')' {
		return nil, p.unexpected()
	}
	p.open = p.open[:len(p.open)-1]
	p.at++
	return n, nil
}

func (p *parser) leaf() (*node, error) {
	start := p.at
	for p.at < len(p.text) && (unicode.IsLetter(p.text[p.at]) || unicode.IsDigit(p.text[p.at]) || p.text[p.at] == '_') {
		p.at++
	}
	name := string(p.text[start:p.at])
	if isChange(name) {
		return p.change(start)
	}
	b, ok := baseNamed(name)
	if !ok {
		return nil, p.fail(start, "%s", unknownKernel(name))
	}
	if err := p.count(start); err != nil {
		return nil, err
	}
	return newLeaf(b, scope{}), nil
}

// count counts a leaf that stands at start.
func (p *parser) count(start int) error {
	if p.leaves++; p.leaves > MaxLeaves {
		return p.fail(start, "more than %d base kernels; write a shorter expression", MaxLeaves)
	}
	return nil
}

func isChange(name string) bool {
	return strings.EqualFold(name, nameChange) || strings.EqualFold(name, "CHANGEPOINT")
}

const changeForm = "CP takes two kernels: CP(A,B)"

// change reads what follows the name of a change point, which stands at start.
func (p *parser) change(start int) (*node, error) {
	if p.peek() != '(' {
		return nil, p.fail(start, "%s", changeForm)
	}
	if len(p.open) == MaxNesting {
		return nil, p.fail(p.at, `more than %d "(" are open; write the expression flatter`, MaxNesting)
	}
	if err := p.count(start); err != nil {
		return nil, err
	}
	p.open = append(p.open, p.at)
	terms := []*node{newStep()}
	for _, end := range ",)" {
		p.at++ // "(" or ","
		if r := p.peek(); r == ',' || r == ')' {
			return nil, p.fail(p.at, "%s", changeForm)
		}
		n, err := p.sum()
		if err != nil {
			return nil, err
		}
		terms = append(terms, n)
		if r := p.peek(); r != end {
			if r == ',' || r == ')' {
				return nil, p.fail(p.at, "%s", changeForm)
			}
			return nil, p.unexpected()
		}
	}
	p.open = p.open[:len(p.open)-1]
	p.at++
	return newChange(terms), nil
}

// unknownKernel says that there is no such base kernel, and what was meant.
func unknownKernel(name string) string {
	if short := []rune(name); len(short) > maxShown { // nothing near it is meant
		return fmt.Sprintf("no kernel %q; kernels are joined by + and *", string(short[:maxShown])+"…")
	}
	if strings.Trim(strings.ToLower(name), "srpl") == "" {
		letters := strings.Split(name, "")
		return fmt.Sprintf("no kernel %q; for a product of letters write %s", name, strings.Join(letters, "*"))
	}
	var names, all []string
	for _, k := range BaseKernels() {
		names = append(names, k.Name)
		all = append(append(all, k.Name), k.Synonyms...)
	}
	if near := nearest(name, all); near != "" {
		return fmt.Sprintf("no kernel %q; did you mean %s?", name, near)
	}
	return fmt.Sprintf("no kernel %q; known: %s", name, strings.Join(names, ", "))
}

// missingKernel says what stands where a base kernel or "(" should.
func (p *parser) missingKernel(r rune) error {
	switch {
	case r == 0 && strings.TrimSpace(p.input) == "":
		return p.fail(p.at, "the expression is empty; write a kernel such as SE or PER*LIN")
	case r == 0:
		return p.fail(p.at, `expected a kernel or "(" after %q`, p.before())
	case r == ')' && p.before() == "(":
		return p.fail(p.at, "nothing between the parentheses; write a kernel such as SE")
	case r == ')' && p.before() == "":
		return p.fail(p.at, `no "(" is open; remove ")"`)
	case unicode.IsDigit(r):
		return p.fail(p.at, "a number is no kernel; name kernels only, their hyperparameters are optimised")
	case r == '[':
		return p.fail(p.at, `columns belong behind a kernel, as in SE[1]; put a kernel before "["`)
	}
	return p.fail(p.at, `expected a kernel or "(" but found %q`, string(r))
}

// before returns the last rune before the current one that is not a space.
func (p *parser) before() string {
	for i := p.at - 1; i >= 0; i-- {
		if !unicode.IsSpace(p.text[i]) {
			return string(p.text[i])
		}
	}
	return ""
}

// unexpected says what is wrong with what follows a complete factor.
func (p *parser) unexpected() error {
	r := p.peek()
	switch {
	case r == 0 && len(p.open) > 0:
		return p.fail(p.at, `expected ")" to close the "(" at column %d`, p.open[len(p.open)-1]+1)
	case r == ')':
		return p.fail(p.at, `no "(" is open; remove ")"`)
	case r == '^':
		return p.fail(p.at, `powers are written as products, such as LIN*LIN; replace "^"`)
	case r == '(' || unicode.IsLetter(r) || r == '_':
		return p.fail(p.at, `expected "+" or "*" before %q`, string(r))
	case len(p.open) > 0:
		return p.fail(p.at, `expected "+", "*" or ")" to close the "(" at column %d, but found %q`, p.open[len(p.open)-1]+1, string(r))
	}
	return p.fail(p.at, `expected "+" or "*" but found %q`, string(r))
}

// scoped reads a scope and gives it to every leaf of what stands before it.
func (p *parser) scoped(n *node) (*node, error) {
	start := p.at
	s, err := p.scope()
	if err != nil {
		return nil, err
	}
	if n.kind == kindChange { // its kernels say theirs within
		if len(s.columns) != 1 || s.shape != shapeDefault || len(n.terms[0].scope.columns) > 0 {
			return nil, p.fail(start, "behind a change point stands the one column that it is along, as in CP(SE,LIN)[1]; "+
				"write what its kernels act on within")
		}
		return newChange([]*node{newLeaf(baseStep, s), n.terms[1], n.terms[2]}), nil
	}
	twice := ""
	n = n.mapLeaves(func(leaf *node) *node {
		own := leaf.scope
		if leaf.base == baseStep {
			if len(own.columns) == 0 {
				own.columns = s.columns
			}
			return newLeaf(baseStep, own)
		}
		if len(own.columns) > 0 && len(s.columns) > 0 || own.shape != shapeDefault && s.shape != shapeDefault {
			twice = leaf.base.info().name
		}
		if len(s.columns) > 0 {
			own.columns = s.columns
		}
		if s.shape != shapeDefault {
			own.shape = s.shape
		}
		return newLeaf(leaf.base, own)
	})
	if twice != "" {
		return nil, p.fail(start, `%s before it already has one; remove this "[…]" or that of %s`, twice, twice)
	}
	return n, nil
}

func (p *parser) scope() (scope, error) {
	start := p.at
	p.at++ // [
	var s scope
	if r := p.peek(); r != ';' {
		for {
			p.peek()
			at := p.at
			c, err := p.column(start)
			if err != nil {
				return s, err
			}
			if len(s.columns) == MaxColumns {
				return s, p.fail(at, "more than %d columns in one scope; leave the scope out for all columns", MaxColumns)
			}
			if slices.Contains(s.columns, c) {
				return s, p.fail(at, "column %s stands twice in this scope; remove one", c.text(false))
			}
			s.columns = append(s.columns, c)
			if p.peek() != ',' {
				break
			}
			p.at++
		}
	}
	if p.peek() == ';' {
		p.at++
		at, word := p.word()
		switch strings.ToLower(word) {
		case "ard":
			s.shape = shapeARD
		case "iso":
			s.shape = shapeIsotropic
		default:
			return s, p.fail(at, `expected ard or iso after ";"`)
		}
	}
	if p.peek() != ']' {
		return s, p.fail(p.at, `expected "]" to close the "[" at column %d`, start+1)
	}
	p.at++
	return s, nil
}

// word reads unquoted text within a scope and returns where it began.
func (p *parser) word() (start int, word string) {
	p.peek()
	start = p.at
	for p.at < len(p.text) && plainColumnRune(p.text[p.at]) {
		p.at++
	}
	return start, strings.TrimSpace(string(p.text[start:p.at]))
}

// maxColumn is far above any data set's number of columns.
const maxColumn = 1_000_000

func (p *parser) column(open int) (column, error) {
	if p.peek() == '"' {
		start := p.at
		rest := string(p.text[p.at:])
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return column{}, p.fail(start, `the quoted column name does not end; add a "`)
		}
		name, err := strconv.Unquote(quoted)
		if err != nil || name == "" {
			return column{}, p.fail(start, "the quoted column name is empty; write a name")
		}
		p.at += len([]rune(quoted))
		return column{name: name}, nil
	}
	start, word := p.word()
	switch {
	case word == "" && p.peek() == 0:
		return column{}, p.fail(p.at, `expected a column and "]" to close the "[" at column %d`, open+1)
	case word == "":
		return column{}, p.fail(p.at, "expected the name or number of a column, as in SE[time] or SE[1]")
	case allDigits(word):
		number, err := strconv.Atoi(word)
		if err != nil || number < 1 || number > maxColumn {
			return column{}, p.fail(start, "columns are counted from 1 to %d", maxColumn)
		}
		return column{number: number}, nil
	}
	return column{name: word}, nil
}
