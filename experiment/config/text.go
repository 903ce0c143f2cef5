package config

import (
	"fmt"
	"strings"
)

// TOML writes the resolved config: every key that has a value, with what it is.
// Reading it gives the same config.
func (c Config) TOML() string {
	var b strings.Builder
	section := ""
	for _, k := range c.keys() {
		text := k.value.toml()
		if text == "" {
			continue
		}
		if k.section != section {
			section = k.section
			fmt.Fprintf(&b, "\n[%s]\n", section)
		}
		line := k.name + " = " + text
		if k.about != "" {
			line = fmt.Sprintf("%-36s # %s", line, k.about)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
