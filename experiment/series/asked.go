package series

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
)

// askedFile holds, in the state folder, what a series was asked for that has no
// config of its own.
const askedFile = "asked.json"

// mostAsked is more than any note takes, in bytes.
const mostAsked = 16 << 20

// Asked is what a series is asked for.
type Asked struct {
	What    string            `json:"what"` // "series of runs" or "study"
	Build   string            `json:"build"`
	Flags   map[string]string `json:"flags"`   // by name, with what they say; those not given are left out
	Configs map[string]string `json:"configs"` // resolved, TOML, by what they are of: "" where there is one only

	Disk inside.Disk `json:"-"` // that it is written to
}

// TakeAsked takes a directory for what is asked, which is written down in it. names
// are those of further files that are replaced in it. may lets a value be another
// than before; nil: none may.
func TakeAsked(path string, a Asked, names []string, may func(key, was, is string) bool) (*Directory, error) {
	d, err := Take(a.Disk, path, append(names, askedFile), func() (bool, error) { return a.begun(path, may) })
	if err != nil {
		return nil, err
	}
	name := filepath.Join(record.StateDir, askedFile)
	if d.Known {
		d.asked, err = d.Owner.ReadFile(name, mostAsked)
	}
	a.Build = record.ReadBuild().String()
	var text []byte
	if err == nil {
		text, err = json.MarshalIndent(a, "", "  ")
	}
	if err == nil {
		err = d.Owner.ReplaceFile(name, append(text, '\n'))
	}
	if err != nil {
		d.GiveUp()
		return nil, files.Unwritable(path, err)
	}
	return d, nil
}

// IsBegun reports whether something has been asked for in a directory before.
func IsBegun(path string) bool {
	_, err := os.Lstat(filepath.Join(path, record.StateDir, askedFile))
	return err == nil
}

// begun reports whether the same has been asked for in a directory before.
func (a *Asked) begun(path string, may func(key, was, is string) bool) (bool, error) {
	name := filepath.Join(record.StateDir, askedFile)
	text, err := inside.ReadFile(path, name, mostAsked)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var before Asked
	var was, is map[string]string
	if err == nil {
		err = json.Unmarshal(text, &before)
	}
	if err == nil {
		was, err = before.keys(a)
	}
	if refused := (*inside.Refused)(nil); errors.As(err, &refused) {
		return false, err
	}
	if err != nil {
		return false, fmt.Errorf("%q cannot be gone on with: its %s cannot be read: %w; choose another directory with --out", path, name, err)
	}
	if is, err = a.keys(nil); err != nil {
		return false, err
	}
	if before.What != a.What {
		return false, fmt.Errorf("output directory %q holds a %s, not a %s; choose another with --out", path, before.What, a.What)
	}
	return true, Same(a.What, path, was, is, may)
}

// keys are the values of flags and configs by what names them, of these as what is asked for now would have them written; nil: as
// they are.
func (a *Asked) keys(now *Asked) (map[string]string, error) {
	out := maps.Clone(a.Flags)
	if out == nil {
		out = map[string]string{}
	}
	for of, text := range a.Configs {
		c, err := config.Default().Read([]byte(text), askedFile, nil)
		if err != nil {
			return nil, err
		}
		if now != nil && now.Configs[of] != "" {
			n, err := config.Default().Read([]byte(now.Configs[of]), askedFile, nil)
			if err != nil {
				return nil, err
			}
			c.BringUp(&n)
		}
		if of != "" {
			of += ", "
		}
		for k, v := range config.FixedKeys(c) {
			if !strings.HasPrefix(k, "compare.") { // which concerns no run
				out[of+k] = v
			}
		}
	}
	return out, nil
}

// Same returns an error that names the first key whose value is another than the
// one that a series was begun with.
func Same(what, path string, was, is map[string]string, may func(key, was, is string) bool) error {
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if was[k] != is[k] && (may == nil || !may(k, was[k], is[k])) {
			return fmt.Errorf("%s %q was begun with %s = %s, now it is %s; choose another directory with --out, or state the same",
				what, path, k, cmp.Or(was[k], "nothing"), cmp.Or(is[k], "nothing"))
		}
	}
	return nil
}

// GoesOn is what is said where a series goes on.
func GoesOn(done, all int) string {
	return fmt.Sprintf("goes on where it was cut: %d of %d runs finished", done, all)
}
