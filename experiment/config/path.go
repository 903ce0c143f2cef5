package config

import (
	"fmt"
	"os"
	"strings"
)

// dataPath is a path or a list of paths, which is kept in one text, separated
// as in $PATH.
type dataPath struct{ p *string }

func (d dataPath) set(v any) error {
	if s, ok := v.(string); ok {
		*d.p = s
		return nil
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return fmt.Errorf("must be a path or a list of paths, not %s", shown(v))
	}
	var paths []string
	for i, e := range list {
		s, ok := e.(string)
		switch {
		case !ok || s == "":
			return &elementError{i, fmt.Errorf("must be a list of paths; one of them is %s", shown(e))}
		case len(list) > 1 && strings.ContainsRune(s, os.PathListSeparator):
			return &elementError{i, fmt.Errorf("is a list, in which no path may hold %q: %q; name a folder instead", os.PathListSeparator, s)}
		}
		paths = append(paths, s)
	}
	*d.p = strings.Join(paths, string(os.PathListSeparator))
	return nil
}

func (d dataPath) toml() string { return textValue{p: d.p}.toml() }
