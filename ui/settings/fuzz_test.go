package settings

import (
	"strings"
	"testing"
)

// Whatever stands in the file: settings that are taken are taken again, and what is wrong
// is one line.
func FuzzSettings(f *testing.F) {
	for _, s := range []string{
		"", "[theme]\nground = \"dark\"\n", "[theme]\ncolours = { leader = \"#00ff00\" }\n[keys]\nx = \"q\"\n",
		"[attention]\nbell = \"always\"\nprogress = \"never\"\n", "[theme]\nground = 3\n", "[keys\n", "[theme.colours]\nnone = \"#12\"\n",
		"[keys]\n\"ctrl+x\" = \"?\"\nq = \"q\"\n", "theme = 1", "[theme]\nground = \"\\u001b[2J\"\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parse(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Errorf("%q", err)
			}
			return
		}
		if _, err := s.check(); err != nil {
			t.Errorf("taken, and refused when looked at again: %v", err)
		}
	})
}
