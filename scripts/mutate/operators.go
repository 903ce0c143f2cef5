package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// swapped are operators and what stands in their place.
var swapped = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.OR_ASSIGN: token.AND_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC,
}

// other is what stands for a name in its place.
var other = map[string]string{"max": "min", "min": "max", "math.Max": "math.Min", "math.Min": "math.Max", "true": "false", "false": "true"}

// mostLines is how long a statement may be that is deleted: of a longer one nothing
// can be said in a line.
const mostLines = 3

// mutate adds the sites of one node, without those of what is in it.
func (w *walker) mutate(n ast.Node, results *ast.FieldList) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if to, ok := swapped[n.Op]; ok && !(n.Op == token.ADD && (isText(n.X) || isText(n.Y))) {
			w.add("operator", n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), to.String())
		}
	case *ast.UnaryExpr:
		if n.Op == token.SUB || n.Op == token.NOT {
			w.add("operator", n.OpPos, n.X.Pos(), "")
		}
	case *ast.BasicLit:
		w.constant(n)
	case *ast.Ident:
		if to := other[n.Name]; to == "true" || to == "false" {
			w.replace("constant", n, to)
		}
	case *ast.IfStmt:
		w.replace("condition", n.Cond, "!("+w.text(n.Cond)+")")
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			return
		}
		w.delete(n)
		if n.Tok != token.ASSIGN {
			w.add("assignment", n.TokPos, n.TokPos+token.Pos(len(n.Tok.String())), "=")
		}
		if to, ok := swapped[n.Tok]; ok {
			w.add("operator", n.TokPos, n.TokPos+token.Pos(len(n.Tok.String())), to.String())
		}
	case *ast.IncDecStmt:
		w.delete(n)
		w.add("operator", n.TokPos, n.End(), swapped[n.Tok].String())
	case *ast.ExprStmt:
		// Which locks are held only the race detector sees.
		if c, ok := n.X.(*ast.CallExpr); ok && !slices.Contains([]string{"panic", "Lock", "Unlock", "RLock", "RUnlock"}, called(c)) {
			w.delete(n)
		}
	case *ast.BranchStmt:
		if n.Label == nil && (n.Tok == token.BREAK || n.Tok == token.CONTINUE) {
			w.delete(n)
		}
	case *ast.CallExpr:
		if to := other[w.text(n.Fun)]; to != "" {
			w.replace("max, min", n.Fun, to)
		}
	case *ast.ReturnStmt:
		w.noError(n, results)
	case *ast.SliceExpr:
		if n.Low != nil {
			w.replace("bound", n.Low, "("+w.text(n.Low)+")+1")
		}
		if n.High != nil {
			w.replace("bound", n.High, "("+w.text(n.High)+")-1")
		}
	}
}

func (w *walker) constant(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		if v, err := strconv.Atoi(n.Value); err == nil {
			w.replace("constant", n, strconv.Itoa(v+1))
			if v > 0 {
				w.replace("constant", n, strconv.Itoa(v-1))
			}
		}
	case token.FLOAT:
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && v != 0 {
			w.replace("constant", n, "(.5*"+n.Value+")")
		}
		w.replace("constant", n, "(1+"+n.Value+")")
	}
}

func (w *walker) delete(n ast.Stmt) {
	if w.at.Line(n.End())-w.at.Line(n.Pos()) < mostLines {
		w.replace("deleted", n, "")
	}
}

// noError has an error that is returned as none.
func (w *walker) noError(n *ast.ReturnStmt, results *ast.FieldList) {
	if results == nil || len(n.Results) == 0 {
		return
	}
	declared := 0
	for _, f := range results.List {
		declared += max(1, len(f.Names))
	}
	last := n.Results[len(n.Results)-1]
	named, ok := results.List[len(results.List)-1].Type.(*ast.Ident)
	if ok && named.Name == "error" && declared == len(n.Results) && w.text(last) != "nil" {
		w.replace("no error", last, "nil")
	}
}

// called is the last name of what a call calls.
func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// isText reports whether an operand is text by its looks.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return isText(e.X) || isText(e.Y)
	}
	return false
}
