package experiment

import "kestrel/datasets"

// ConfigFor returns the config of a file of data, of a TOML file or of a
// built-in name, whichever name is, with overrides on top.
func ConfigFor(name string, set []Override) (Config, error) {
	if IsTable(name) || datasets.IsWorkbook(name) { // which says of itself that it is no table
		return FileConfig(name, "", set)
	}
	return LoadConfig(name, set)
}

// TableColumn is a column of a table of data.
type TableColumn struct {
	Name   string
	Number int    // in the file, from 1
	Kind   string // "number", "time", "text", or "" if the first rows do not tell
	Role   string // "input", "target" or ""
}

// TableColumns reads the columns of the table that a config reads, whatever
// they hold; none if its data are no free table.
func TableColumns(c Config) ([]TableColumn, error) {
	if c.Data.Source != "csv" {
		return nil, nil
	}
	header, err := datasets.ReadHeader(c.Data)
	if err != nil {
		return nil, err
	}
	out := make([]TableColumn, len(header))
	for i, h := range header {
		out[i] = TableColumn(h)
	}
	return out, nil
}
