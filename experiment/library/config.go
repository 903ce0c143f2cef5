package library

import (
	"path/filepath"

	"kestrel/datasets"
	"kestrel/experiment/config"
)

// ConfigFor returns the config of a file of data, of a TOML file or of a
// built-in name, whichever name is, with overrides on top.
func ConfigFor(name string, set []config.Override) (config.Config, error) {
	pipe := datasets.IsPipe(name) && filepath.Ext(name) != ".toml"
	if IsTable(name) || datasets.IsWorkbook(name) || pipe { // the last two say of themselves that they are no tables
		return config.ForTable(name, "", set)
	}
	return config.Load(name, set)
}
