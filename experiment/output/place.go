package output

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// place is where a name leads to.
type place struct {
	path       string // without links, absolute
	descriptor int    // of this process, which is written to as it is; -1: none
}

// mostLinks is how many links a name may lead through.
const mostLinks = 255

// find follows the links of a name. What is not there yet is taken as it stands.
func find(name string) (place, error) {
	if info, err := os.Stat(name); runtime.GOOS == "windows" && err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return place{name, -1}, nil // NUL is in no folder
	}
	at, rest, err := begin(name)
	if err != nil {
		return place{}, err
	}
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		if n := descriptor(at, part); n >= 0 && len(rest) == 0 {
			return place{next, n}, nil
		}
		info, err := os.Lstat(next)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			at = next // where it cannot be seen, writing will say why
			continue
		}
		if k := keeperAround(at); k.dir != "" {
			return place{}, fmt.Errorf("%q goes through a link in %s, and such links are not followed; remove %q or choose another name",
				name, k, shown(next))
		}
		if links++; links > mostLinks {
			return place{}, fmt.Errorf("%q goes through too many links; choose another name", name)
		}
		to, err := os.Readlink(next)
		if err != nil {
			return place{}, fmt.Errorf("%q cannot be followed: %w", name, err)
		}
		if filepath.IsAbs(to) {
			root, parts := split(to)
			at, rest = root, append(parts, rest...)
		} else {
			rest = append(parts(to), rest...)
		}
	}
	return place{at, -1}, nil
}

// begin splits a name into the folder from which on it is followed and its parts.
// Unlike filepath.Abs it leaves "..", which leads out of what a link points at, but
// on Windows, which takes that away itself.
func begin(name string) (at string, rest []string, err error) {
	if runtime.GOOS == "windows" {
		if name, err = filepath.Abs(name); err != nil {
			return "", nil, err
		}
	}
	if name == "" {
		return "", nil, fmt.Errorf("%q is no name; choose another", name)
	}
	if filepath.IsAbs(name) {
		at, rest = split(name)
		return at, rest, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	at, rest = split(here)
	return at, append(rest, parts(name)...), nil
}

// split divides an absolute name into its root and its parts.
func split(name string) (root string, rest []string) {
	volume := filepath.VolumeName(name)
	return volume + string(filepath.Separator), parts(name[len(volume):])
}

func parts(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// shown is a path as people know it: from the working directory, where it is
// below that.
func shown(path string) string {
	here, err := os.Getwd()
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(short) && short != "." {
		return short
	}
	return path
}

// above lists a folder and those that it lies in, the innermost first.
func above(dir string) (all []string) {
	for {
		if all = append(all, dir); filepath.Dir(dir) == dir {
			return all
		}
		dir = filepath.Dir(dir)
	}
}
