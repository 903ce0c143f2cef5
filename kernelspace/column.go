package kernelspace

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// column names an input column that a leaf acts on: by 1-based number, or by
// name if number is 0.
type column struct {
	number int
	name   string
}

// shape says whether a leaf has one length scale for all its columns or one
// for each (ARD, automatic relevance determination).
type shape uint8

const (
	shapeDefault   shape = iota // what Options.ARD says
	shapeIsotropic              // written "iso"
	shapeARD                    // written "ard"
)

// scope is what a leaf acts on, written once for every base kernel as the
// suffix [columns;shape]. No columns means all.
type scope struct {
	columns []column
	shape   shape
}

func compareColumns(a, b column) int {
	if (a.number > 0) != (b.number > 0) {
		return cmp.Compare(b.number, a.number) // numbers before names
	}
	return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.name, b.name))
}

func compareScopes(a, b scope) int {
	return cmp.Or(slices.CompareFunc(a.columns, b.columns, compareColumns), cmp.Compare(a.shape, b.shape))
}

// text writes the suffix, "" for all columns in the default shape. With ascii
// set, names outside ASCII are quoted with escapes.
func (s scope) text(ascii bool) string {
	if len(s.columns) == 0 && s.shape == shapeDefault {
		return ""
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, c := range s.columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(c.text(ascii))
	}
	switch s.shape {
	case shapeIsotropic:
		b.WriteString(";iso")
	case shapeARD:
		b.WriteString(";ard")
	}
	b.WriteByte(']')
	return b.String()
}

func (c column) text(ascii bool) string {
	switch {
	case c.number > 0:
		return strconv.Itoa(c.number)
	case plainColumn(c.name, ascii):
		return c.name
	case ascii:
		return strconv.QuoteToASCII(c.name)
	}
	return strconv.Quote(c.name)
}

// plainColumn reports whether a column's name can be written without quotes.
func plainColumn(name string, ascii bool) bool {
	if name == "" || strings.TrimSpace(name) != name || allDigits(name) || !utf8.ValidString(name) {
		return false
	}
	for _, r := range name {
		if !plainColumnRune(r) || ascii && r > unicode.MaxASCII {
			return false
		}
	}
	return true
}

func plainColumnRune(r rune) bool {
	return unicode.IsPrint(r) && !strings.ContainsRune(`[],;"`, r)
}

func allDigits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
