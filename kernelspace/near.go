package kernelspace

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// nearest returns the name that is closest to what was written, regardless of
// case, or "" if none is close enough to be a likely slip.
func nearest(written string, names []string) string {
	written = strings.ToLower(written)
	best, bestDistance := "", 0
	for _, name := range names {
		d := levenshtein.ComputeDistance(written, strings.ToLower(name))
		likely := d <= (len([]rune(name))+1)/2
		if likely && (best == "" || d < bestDistance) {
			best, bestDistance = name, d
		}
	}
	return best
}
