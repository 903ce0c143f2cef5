package library

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/kestrel/configs"
	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
)

// ConfigChoice is a config that may be run.
type ConfigChoice struct {
	Name    string // what config.Load takes: a built-in name or a path
	About   string // the first sentence of the comment that it begins with
	Shipped bool   // comes with the program
	Missing string // the data file that one which comes with the program needs and that is nowhere; "": none
}

// ConfigChoices lists the built-in configs and then those in dir/configs and in
// dir, without copies of built-in ones.
func ConfigChoices(dir string) []ConfigChoice {
	var out []ConfigChoice
	var shipped []string
	for _, name := range configs.Names() {
		text, _ := configs.Read(name)
		shipped = append(shipped, string(text))
		out = append(out, ConfigChoice{Name: name, About: firstComment(string(text)), Shipped: true, Missing: missingData(name)})
	}
	for _, folder := range []string{filepath.Join(dir, "configs"), dir} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // it need not be there
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			if filepath.Ext(path) != ".toml" || strings.HasPrefix(e.Name(), ".") {
				continue
			}
			text, err := config.ReadConfig(path)
			if err != nil || !config.IsConfig.Match(text) || slices.Contains(shipped, string(text)) {
				continue
			}
			out = append(out, ConfigChoice{Name: path, About: firstComment(string(text))})
		}
	}
	return out
}

// missingData is the data file of a built-in config where it is not to be found.
func missingData(name string) string {
	c, err := config.Load(name, nil)
	if err != nil || c.Data.Path == "" {
		return ""
	}
	if _, err := datasets.Resolve(c.Data.Path, c.Data.SearchDirs); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return c.Data.Path
}

// firstComment is the first sentence of the comment with which a text begins, "" if it
// begins with something else.
func firstComment(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		about, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !ok {
			break
		}
		for _, word := range strings.Fields(about) {
			if words = append(words, word); strings.HasSuffix(word, ".") {
				return strings.Join(words, " ")
			}
		}
	}
	return strings.Join(words, " ")
}
