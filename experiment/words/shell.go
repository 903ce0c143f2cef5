package words

import (
	"regexp"
	"strings"
)

// plain matches what a shell takes as it is.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// Shell quotes a word of a command for a POSIX shell.
func Shell(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
