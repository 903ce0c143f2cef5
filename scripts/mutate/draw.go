package main

import (
	"cmp"
	"encoding/binary"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"path"
	"slices"
	"strconv"
)

// draw is one site of every line of a group that has any, in the order in which they
// are tried. A line's place in it is a hash of the seed and of what stands there, so
// that an edit moves no line but its own.
func draw(m module, group string, seed uint64) ([]site, error) {
	type ranked struct {
		site
		rank uint64
	}
	var all []ranked
	for _, name := range m.below(group) {
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
			if err := findUses(uses, file, src); err != nil {
				return nil, err
			}
			for _, line := range byLine(sites) {
				rank := hash(seed, line[0].file, line[0].function, line[0].before, strconv.Itoa(line[0].nth))
				all = append(all, ranked{line[hash(rank, "which")%uint64(len(line))], rank})
			}
		}
		for i, s := range all {
			if s.outside && path.Dir(s.file) == name {
				all[i].uses = uses[s.function]
			}
		}
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	sites := make([]site, len(all))
	for i, s := range all {
		sites[i] = s.site
	}
	return sites, nil
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
