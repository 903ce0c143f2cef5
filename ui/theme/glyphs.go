package theme

import (
	"strings"

	"example.com/kestrel/ui/plot"
)

// GlyphsFor guesses which characters the terminal's font has.
func GlyphsFor(env func(string) string) plot.Glyphs {
	switch strings.ToLower(env("KESTREL_GLYPHS")) {
	case "braille":
		return plot.Braille
	case "blocks":
		return plot.Blocks
	case "halves":
		return plot.Halves
	case "ascii":
		return plot.ASCII
	}
	switch env("TERM") {
	case "linux":
		return plot.Halves
	case "dumb", "vt100", "vt102", "vt220":
		return plot.ASCII
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToUpper(env(name)); v != "" {
			if strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8") {
				return plot.Braille
			}
			if v == "C" || v == "POSIX" {
				return plot.Braille // says nothing about the font; most terminals are UTF-8 all the same
			}
			return plot.ASCII
		}
	}
	return plot.Braille
}
