package files

import (
	"strconv"
	"strings"
)

// SafeCell keeps a text, such as the name of a column, from starting a formula
// when a spreadsheet opens the table: one that begins with = + - @, with a tab
// or the end of a line, or with the wide form of one of these, gets a ' in
// front; so does one that begins so behind other marks ', which keeps different
// texts different: who reads a table takes one ' off a cell that begins so. Numbers
// stay numbers. It helps where fields are divided at commas, as they are
// written.
func SafeCell(text string) string {
	if !startsFormula(text) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}

func startsFormula(text string) bool {
	for _, r := range strings.TrimLeft(text, "'") {
		return strings.ContainsRune("=+-@\t\r\n＝＋－＠", r)
	}
	return false
}
