package library

import (
	"os"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
)

// ConfigFor returns the config of a file of data, of a TOML file or of a
// built-in name, whichever name is, with overrides on top.
func ConfigFor(name string, set []config.Override) (config.Config, error) {
	// A workbook says of itself that it is no table.
	if name == datasets.StandardInput || IsTable(name) || isFile(name) && datasets.IsWorkbook(name) {
		return config.ForTable(name, "", set)
	}
	return config.Load(name, set)
}

// isFile tells a file from a pipe, of which nothing may be lost by looking at it.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
