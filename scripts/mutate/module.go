package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A pack is a package as go list tells of it.
type pack struct {
	ImportPath, Dir           string
	GoFiles                   []string
	TestGoFiles, XTestGoFiles []string
	Deps                      []string
	TestImports, XTestImports []string
}

// A module is its packages, by their folder from the root.
type module struct {
	root, path string
	packs      map[string]pack
	program    map[string]bool // what the program is made of, tests' helpers are not
}

func readModule() (module, error) {
	text, err := output("go", "list", "-m", "-f", "{{.Path}}\n{{.Dir}}")
	if err != nil {
		return module{}, err
	}
	path, root, _ := strings.Cut(strings.TrimSpace(text), "\n")
	m := module{root: root, path: path, packs: map[string]pack{}, program: map[string]bool{}}
	text, err = output("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Deps,TestImports,XTestImports", path+"/...")
	if err != nil {
		return module{}, err
	}
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var p pack
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return module{}, fmt.Errorf("what go list says: %w", err)
		}
		m.packs[m.short(p.ImportPath)] = p
	}
	for _, d := range m.packs["."].Deps {
		m.program[m.short(d)] = true
	}
	return m, nil
}

// short is the folder of a package from the root.
func (m module) short(path string) string {
	if path == m.path {
		return "."
	}
	return strings.TrimPrefix(path, m.path+"/")
}

// below are the packages of a group that the program is made of, in order.
func (m module) below(group string) (all []string) {
	for name := range m.packs {
		if m.program[name] && (name == group || strings.HasPrefix(name, group+"/")) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// testers are packages whose tests can reach one: itself, then others, first those
// that are made of least.
func (m module) testers(name string) (all []string) {
	size := map[string]int{}
	for tester, p := range m.packs {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		made := map[string]bool{tester: true}
		for _, i := range slices.Concat([]string{p.ImportPath}, p.TestImports, p.XTestImports) {
			if from, ours := m.packs[m.short(i)]; ours {
				made[m.short(i)] = true
				for _, d := range from.Deps {
					if _, ours := m.packs[m.short(d)]; ours {
						made[m.short(d)] = true
					}
				}
			}
		}
		if made[name] {
			size[tester] = len(made)
			all = append(all, tester)
		}
	}
	size[name] = 0
	slices.SortFunc(all, func(a, b string) int {
		if size[a] != size[b] {
			return size[a] - size[b]
		}
		return strings.Compare(a, b)
	})
	return all
}

func output(name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(append([]string{name}, args...), " "), err)
	}
	return string(text), nil
}

// at is the place of a file of the module.
func (m module) at(file string) string { return filepath.Join(m.root, filepath.FromSlash(file)) }
