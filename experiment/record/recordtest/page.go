package recordtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/kestrel/internal/golden"
	"example.com/kestrel/internal/must"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// Page returns what stands under a heading of docs/format.md, up to the next one.
func Page(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(golden.Module(t), "docs", "format.md"))
	must.OK(t, err)
	_, text, ok := strings.Cut(string(page), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("docs/format.md has no heading %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n#")
	return text
}

// PageNames returns the names in the first cells of the tables there, in their
// order; ".x" is in the same object as the name before it.
func PageNames(t *testing.T, heading string) (names []string) {
	t.Helper()
	for line := range strings.Lines(Page(t, heading)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || cells[0] != "" {
			continue
		}
		for _, match := range quoted.FindAllStringSubmatch(cells[1], -1) {
			name := match[1]
			if last, ok := strings.CutPrefix(name, "."); ok && len(names) > 0 {
				before := names[len(names)-1]
				name = before[:strings.LastIndex(before, ".")+1] + last
			}
			names = append(names, name)
		}
	}
	return names
}
