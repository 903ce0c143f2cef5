package front

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/kernelspace"
)

// Passed are neighbours of leaders that were to be tried of all rows, and for which there was no room until others led, by id. Kernels
// that differ from the best by what explains nothing may be so many that those which differ by more are no leaders for long. Parents may
// have left since: such a kernel begins at its kin's.
type Passed map[string]proposal

// after returns them with what has been proposed, as far as they are to be kept. What is there is not modified.
func (p Passed) after(proposed map[string]proposal, kept func(id string, p proposal) bool) Passed {
	out := Passed{}
	for _, some := range []map[string]proposal{p, proposed} {
		for id, of := range some {
			if of.more = of.promise; kept(id, of) { // gains are of a parent as it was
				out[id] = of
			}
		}
	}
	return out
}

// Lines are what tells them, one a line, sorted, and of each what it promises: its parent's score with its own prior
// and what it loses.
func (p Passed) Lines() (lines []string, scores []float64) {
	for _, id := range slices.Sorted(maps.Keys(p)) {
		of := p[id]
		lines, scores = append(lines, strings.Join([]string{id, of.Parent, of.Step}, "\t")), append(scores, of.promise)
	}
	return lines, scores
}

// ParsePassed reads that.
func ParsePassed(lines []string, scores []float64) (Passed, error) {
	if len(lines) != len(scores) {
		return nil, fmt.Errorf("%d neighbours with %d scores", len(lines), len(scores))
	}
	out := Passed{}
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		if len(cells) != 3 || math.IsNaN(scores[i]) {
			return nil, fmt.Errorf("line %d: %q is no neighbour, its parent and the step from there", i+1, line)
		}
		e, err := kernelspace.Parse(cells[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		e = e.Canonical()
		out[e.ID()] = proposal{Entrant{e, cells[1], cells[2]}, scores[i], scores[i]}
	}
	return out, nil
}
