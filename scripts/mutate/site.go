package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// A site is one change that can be made to a file.
type site struct {
	file     string // from the root, with slashes
	function string // or the constant or variable
	line     int
	begins   int // the line where the statement does that it is in, which a profile has
	nth      int // of those in the function that read the same
	operator string
	from, to int // the bytes that are replaced
	with     string
	// The lines that are changed, spaces joined.
	before, after string
	// A change outside of functions is for the lines where the name is used, by files.
	outside bool
	uses    map[string][]int
}

// change is the file with the change made.
func (s site) change(src []byte) []byte {
	return bytes.Join([][]byte{src[:s.from], []byte(s.with), src[s.to:]}, nil)
}

// key tells a site from others, wherever it has moved in its function.
func (s site) key() [6]string {
	return [6]string{s.file, s.function, s.operator, s.before, s.after, strconv.Itoa(s.nth)}
}

func (s site) text() string {
	return fmt.Sprintf("%s:%d %s, %s\n  - %s\n  + %s\n", s.file, s.line, s.function, s.operator, s.before, s.after)
}

// sitesOf are the sites of a file, in their order. Generated files have none.
func sitesOf(name string, src []byte) ([]site, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(f) {
		return nil, nil
	}
	w := &walker{file: name, src: src, at: set.File(f.Pos())}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				w.outside, w.function = false, d.Name.Name
				if d.Recv != nil && len(d.Recv.List) == 1 {
					w.function = strings.TrimPrefix(w.text(d.Recv.List[0].Type), "*") + "." + w.function
				}
				ast.Walk(within{w: w, results: d.Type.Results}, d.Body)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.ValueSpec); ok && s.Names[0].Name != "_" {
					w.outside, w.function = true, s.Names[0].Name
					for _, v := range s.Values {
						ast.Walk(within{w: w}, v)
					}
				}
			}
		}
	}
	same := map[[6]string]int{}
	for i := range w.found {
		key := w.found[i].key()
		w.found[i].nth = same[key]
		same[key]++
	}
	return w.found, nil
}

// A walker collects the sites of a file.
type walker struct {
	file     string
	src      []byte
	at       *token.File
	function string
	outside  bool
	begins   int
	found    []site
}

func (w *walker) text(n ast.Node) string {
	return string(w.src[w.at.Offset(n.Pos()):w.at.Offset(n.End())])
}

// add has the source from one position to before another replaced.
func (w *walker) add(operator string, from, to token.Pos, with string) {
	s := site{file: w.file, function: w.function, outside: w.outside, operator: operator, with: with, line: w.at.Line(from), begins: w.begins}
	s.from, s.to = w.at.Offset(from), w.at.Offset(to)
	first, last := s.from, s.to
	for first > 0 && w.src[first-1] != '\n' {
		first--
	}
	for last < len(w.src) && w.src[last] != '\n' {
		last++
	}
	s.before = join(string(w.src[first:last]))
	s.after = join(string(w.src[first:s.from]) + with + string(w.src[s.to:last]))
	w.found = append(w.found, s)
}

func (w *walker) replace(operator string, n ast.Node, with string) {
	w.add(operator, n.Pos(), n.End(), with)
}

// join has spaces and the ends of lines as one space.
func join(text string) string { return strings.Join(strings.Fields(text), " ") }

// within is a walker in a function that returns results, in a statement.
type within struct {
	w       *walker
	results *ast.FieldList
	begins  int
}

func (in within) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case nil:
		return nil
	case *ast.FuncLit:
		in.results = n.Type.Results
		return in
	case *ast.BlockStmt, *ast.CaseClause: // of a case what is compared is reached with the switch
	case ast.Stmt:
		in.begins = in.w.at.Line(n.Pos())
	}
	in.w.begins = in.begins
	switch n := n.(type) {
	case *ast.CallExpr: // how many bits a number has is nothing to change, nor how infinite it is
		if f := in.w.text(n.Fun); strings.HasPrefix(f, "strconv.") || f == "math.Inf" {
			for _, a := range n.Args {
				if _, literal := a.(*ast.BasicLit); !literal {
					ast.Walk(in, a)
				}
			}
			return nil
		}
	case *ast.ForStmt: // what stops a loop only makes it hang
		for _, part := range []ast.Node{n.Init, n.Cond, n.Body} {
			if part != nil && part != ast.Node((*ast.BlockStmt)(nil)) {
				ast.Walk(in, part)
			}
		}
		return nil
	}
	in.w.mutate(n, in.results)
	return in
}
