package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// draw is one site of every line of a group that has any, in the order in which they
// are tried. A line's place in it is a hash of the seed and of what stands there, so
// that an edit moves no line but its own.
func draw(m module, group string, seed uint64) ([]site, error) {
	var drawn []site
	rank := map[[6]string]uint64{}
	for _, name := range m.below(group) {
		sites, err := sitesIn(m, name)
		if err != nil {
			return nil, err
		}
		for _, line := range byLine(sites) {
			place := hash(seed, line[0].file, line[0].function, line[0].before, strconv.Itoa(line[0].nth))
			s := line[hash(place, "which")%uint64(len(line))]
			rank[s.key()] = place
			drawn = append(drawn, s)
		}
	}
	slices.SortFunc(drawn, func(a, b site) int { return cmp.Compare(rank[a.key()], rank[b.key()]) })
	return drawn, nil
}

// sitesIn are the sites of a package.
func sitesIn(m module, name string) (all []site, err error) {
	uses := map[string]map[string][]int{}
	for _, file := range m.packs[name].GoFiles {
		file = path.Join(name, file)
		src, err := os.ReadFile(m.at(file))
		if err != nil {
			return nil, err
		}
		sites, err := sitesOf(file, src)
		if err != nil {
			return nil, err
		}
		all = append(all, sites...)
		if err := findUses(uses, file, src); err != nil {
			return nil, err
		}
	}
	for i, s := range all {
		if s.outside {
			all[i].uses = uses[s.function]
		}
	}
	return all, nil
}

// atLine are the sites on a line, written as file.go:12.
func atLine(m module, at string) ([]site, error) {
	file, line, _ := strings.Cut(at, ":")
	all, err := sitesIn(m, path.Dir(file))
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s site) bool { return s.file != file || strconv.Itoa(s.line) != line })
	if len(all) == 0 {
		return nil, fmt.Errorf("nothing can be changed at %s", at)
	}
	return all, nil
}

// byLine has the sites of each line together.
func byLine(sites []site) (lines [][]site) {
	at := map[int]int{}
	for _, s := range sites {
		i, ok := at[s.line]
		if !ok {
			i = len(lines)
			at[s.line] = i
			lines = append(lines, nil)
		}
		lines[i] = append(lines[i], s)
	}
	return lines
}

// findUses adds the lines of a file by the names on them, of constants and variables
// of the package: those of functions have lines of their own.
func findUses(uses map[string]map[string][]int, file string, src []byte) error {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			ast.Inspect(d.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if uses[id.Name] == nil {
						uses[id.Name] = map[string][]int{}
					}
					uses[id.Name][file] = append(uses[id.Name][file], set.Position(id.Pos()).Line)
				}
				return true
			})
		}
	}
	return nil
}

func hash(seed uint64, parts ...string) uint64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, seed))
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	// FNV's high bits say little of the last bytes: mixed as SplitMix64 does.
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
