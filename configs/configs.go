// Package configs holds the configs that come with the program.
package configs

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.toml
var files embed.FS

// Names lists the built-in configs in alphabetical order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("configs: the embedded folder cannot be read")
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	slices.Sort(names)
	return names
}

// Read returns the TOML text of a built-in config, and whether there is one of
// that name.
func Read(name string) (text []byte, ok bool) {
	text, err := files.ReadFile(name + ".toml")
	return text, err == nil
}
