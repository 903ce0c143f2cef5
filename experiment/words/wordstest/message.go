package wordstest

import (
	"strings"
	"testing"
	"unicode"

	"example.com/kestrel/experiment/words"
)

// CheckMessage wants one line of reasonable length, for an input of n bytes,
// that steers no terminal.
func CheckMessage(t *testing.T, err error, n int) {
	t.Helper()
	line := words.PlainLine(err.Error()) // as the commands write it, but that they cut it
	if len(line) > 20_000+12*n || strings.ContainsFunc(line, unicode.IsControl) {
		t.Fatalf("%d bytes: %.300q", len(line), line)
	}
}
