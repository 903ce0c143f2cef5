package library

import (
	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
)

// TableColumn is a column of a table of data.
type TableColumn struct {
	Name   string
	Number int    // in the file, from 1
	Kind   string // "number", "time", "text", or "" if the first rows do not tell
	Role   string // "input", "target" or ""
}

// TableColumns reads the columns of the table that a config reads, whatever
// they hold; none if its data are no free table.
func TableColumns(c config.Config) ([]TableColumn, error) {
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
