// Package quote writes foreign text into messages: truncated, and so that no
// file can steer a terminal.
package quote

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxQuoted is the number of characters of foreign text shown in a message.
const maxQuoted = 40

// Text quotes foreign text: truncated, control characters and invalid UTF-8
// escaped.
func Text(s string) string {
	if utf8.RuneCountInString(s) > maxQuoted {
		n := 0
		for i := range s {
			if n == maxQuoted {
				return fmt.Sprintf("%q", s[:i]+"…")
			}
			n++
		}
	}
	return fmt.Sprintf("%q", s)
}

// maxListed is the number of names listed in a message.
const maxListed = 20

// List quotes names.
func List(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i == maxListed {
			fmt.Fprintf(&b, ", … (%d in all)", len(names))
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Text(n))
	}
	return b.String()
}
