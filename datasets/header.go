package datasets

import (
	"context"
	"errors"
)

// HeaderColumn is a column of a table as its beginning shows it.
type HeaderColumn struct {
	Name   string // as in the header; "c1", "c2", … where there is none
	Number int    // from 1
	Kind   string // of its values: "number", "time", "text", or "" if the first rows have none
	Role   string // "input", "target", or "" if it is neither by the Spec
}

// errEnough ends the reading of a table when its beginning is known.
var errEnough = errors.New("the beginning of the table is enough")

// ReadHeader reads the beginning of the table that spec names and returns its
// columns. Where the roles cannot be given as spec wants them, no column has
// one: Load says why.
func ReadHeader(spec Spec) ([]HeaderColumn, error) {
	s, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	path, err := Resolve(s.Path, s.SearchDirs)
	if err != nil {
		return nil, err
	}
	var out []HeaderColumn
	_, err = readTable(context.Background(), path, &s, func(f *form) ([]int, error) {
		for i, name := range f.names {
			kinds := map[kind]string{kindNumber: "number", kindTime: "time", kindText: "text"}
			out = append(out, HeaderColumn{Name: name, Number: i + 1, Kind: kinds[f.kinds[i]]})
		}
		if r, err := chooseRoles(&s, "", f); err == nil {
			out[r.target].Role = "target"
			for _, i := range r.inputs {
				if r.asked || r.types[i] != "" || !r.texts[i] { // all rows tell whether a text is one
					out[i].Role = "input"
				}
			}
		}
		return nil, errEnough
	})
	if !errors.Is(err, errEnough) {
		return nil, err
	}
	return out, nil
}
