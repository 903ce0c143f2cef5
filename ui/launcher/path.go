package launcher

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/kestrel/experiment/library"
)

// pastedPath makes a path of what was pasted or dropped into the terminal: the
// first line that is not empty, without quotes, escapes of a shell and control
// characters.
func pastedPath(text string) string {
	line := ""
	for l := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(l); line != "" {
			break
		}
	}
	line = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, line))
	if n := len(line); n >= 2 && (line[0] == '\'' || line[0] == '"') && line[n-1] == line[0] {
		return line[1 : n-1]
	}
	if rest, ok := strings.CutPrefix(line, "file://"); ok {
		if path, err := url.PathUnescape(rest); err == nil {
			return path
		}
	}
	if filepath.Separator == '/' && strings.Contains(line, `\ `) {
		var b strings.Builder
		escaped := false
		for _, r := range line {
			if r == '\\' && !escaped {
				escaped = true
				continue
			}
			b.WriteRune(r)
			escaped = false
		}
		return b.String()
	}
	return line
}

// homePath replaces ~ by the user's folder.
func homePath(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' && rest[0] != filepath.Separator {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return home + rest
}

// completePath continues a path as far as there is only one way, and lists the
// names that it could go on with. Folders end in a separator; other files are
// named only if something can be done with them.
func completePath(path string) (string, []string) {
	if path == "~" {
		return "~" + string(filepath.Separator), nil
	}
	folder, start := filepath.Split(path)
	look := homePath(folder)
	if look == "" {
		look = "."
	}
	entries, err := os.ReadDir(look)
	if err != nil {
		return path, nil
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, start) || strings.HasPrefix(name, ".") && !strings.HasPrefix(start, ".") {
			continue
		}
		if info, err := os.Stat(filepath.Join(look, name)); err != nil {
			continue
		} else if info.IsDir() {
			name += string(filepath.Separator)
		} else if !library.IsTable(name) && !strings.EqualFold(filepath.Ext(name), ".toml") {
			continue
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return path, nil
	}
	slices.Sort(names)
	common := names[0]
	for _, n := range names[1:] {
		for !strings.HasPrefix(n, common) {
			_, size := utf8.DecodeLastRuneInString(common) // 1 for what is no UTF-8
			common = common[:len(common)-size]
		}
	}
	return folder + common, names
}
