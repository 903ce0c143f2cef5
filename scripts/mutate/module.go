package main

import (
	"cmp"
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
	Imports, Deps             []string
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
	const fields = "ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,Deps,TestImports,XTestImports"
	text, err = output("go", "list", "-json="+fields, path+"/...")
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

// testers are packages whose tests can reach one: itself, then others, the nearest by
// imports first, and of those that are as near the ones that are made of least.
func (m module) testers(name string) (all []string) {
	near := map[string][2]int{name: {}}
	for tester, p := range m.packs {
		if tester == name || len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		if steps, made := m.steps(p, name); steps > 0 {
			near[tester] = [2]int{steps, made}
			all = append(all, tester)
		}
	}
	if p := m.packs[name]; len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
		all = append(all, name)
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(near[a][0]-near[b][0], near[a][1]-near[b][1], strings.Compare(a, b))
	})
	return all
}

// steps is over how many imports the tests of a package reach another, 0 where they do
// not, and of how many packages they are made.
func (m module) steps(p pack, name string) (steps, made int) {
	seen := map[string]bool{}
	next := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
	for step := 1; len(next) > 0; step++ {
		var further []string
		for _, i := range next {
			short := m.short(i)
			from, ours := m.packs[short]
			if !ours || seen[short] {
				continue
			}
			seen[short] = true
			if short == name && steps == 0 {
				steps = step
			}
			further = append(further, from.Imports...)
		}
		next = further
	}
	return steps, len(seen)
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
