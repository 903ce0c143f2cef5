// Package settings reads what a user wants of the workbench, for every run: colours,
// characters, keys and how it calls for attention. docs/format.md has the file.
package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// Answers to when something is done.
const (
	Auto   = "auto"
	Always = "always"
	Never  = "never"
	Off    = "off"
)

// Settings are a user's wishes. The zero value has none.
type Settings struct {
	Theme struct {
		Ground     string            `toml:"ground"`     // "dark", "light", "" or "auto": as the terminal says
		Characters string            `toml:"characters"` // as KESTREL_GLYPHS
		Pictures   string            `toml:"pictures"`   // auto, where the terminal shows them; off
		Colours    map[string]string `toml:"colours"`    // "#rrggbb" by the name of a style
	} `toml:"theme"`
	Keys      map[string]string `toml:"keys"` // the key of the program by the key that is to do the same
	Attention struct {
		Bell     string `toml:"bell"`     // at the end of a run: auto, when nobody looks; always; never
		Progress string `toml:"progress"` // in the task bar: auto, where the terminal is known to have it; always; never
	} `toml:"attention"`
}

// mostBytes of the file.
const mostBytes = 64 << 10

// Path is where the file is: $KESTREL_WORKBENCH, else kestrel/workbench.toml in the user's
// folder of settings; "": nowhere.
func Path() string {
	if path := os.Getenv("KESTREL_WORKBENCH"); path != "" {
		return path
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "kestrel", "workbench.toml")
}

// Read reads the file; one that does not exist says nothing.
func Read(path string) (Settings, error) {
	var s Settings
	if path == "" {
		return s, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	switch {
	case err != nil:
		return s, fmt.Errorf("%s: %w", path, err)
	case len(text) > mostBytes:
		return s, fmt.Errorf("%s: is longer than %d bytes", path, mostBytes)
	}
	if s, err = parse(text); err != nil {
		return Settings{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func parse(text []byte) (s Settings, err error) {
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		var unknown *toml.StrictMissingError
		if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
			row, _ := unknown.Errors[0].Position()
			return s, fmt.Errorf("line %d: there is no %s; there are [theme] ground, characters, pictures, colours, [keys] and [attention] bell, "+
				"progress", row, strings.Join(unknown.Errors[0].Key(), "."))
		}
		var wrong *toml.DecodeError
		if errors.As(err, &wrong) {
			row, _ := wrong.Position()
			return s, fmt.Errorf("line %d: %s", row, wrong.Error())
		}
		return s, err
	}
	if path, err := s.check(); err != nil {
		if row := lineOf(text, path); row > 0 {
			return s, fmt.Errorf("line %d: %w", row, err)
		}
		return s, err
	}
	return s, nil
}

// lineOf is the line of a key, or of the table that it is in, counted from 1; 0 where
// neither stands in the text.
func lineOf(text []byte, path []string) (line int) {
	var p unstable.Parser
	p.Reset(text)
	var table []string
	best := 0
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.KeyValue {
			continue
		}
		var names []string
		at := 0
		for it := e.Key(); it.Next(); {
			if len(names) == 0 {
				at = int(it.Node().Raw.Offset)
			}
			names = append(names, string(it.Node().Data))
		}
		if e.Kind == unstable.Table {
			table = names
		} else {
			names = slices.Concat(table, names)
		}
		if n := len(names); n > best && n <= len(path) && slices.Equal(names, path[:n]) {
			best, line = n, 1+bytes.Count(text[:at], []byte{'\n'})
		}
	}
	return line
}

var colour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// check says what is wrong, and at which key.
func (s *Settings) check() (path []string, err error) {
	for _, c := range []struct {
		key, value string
		choices    []string
	}{
		{"theme.ground", s.Theme.Ground, []string{Auto, "dark", "light"}},
		{"theme.characters", s.Theme.Characters, []string{Auto, "braille", "blocks", "halves", "ascii"}},
		{"theme.pictures", s.Theme.Pictures, []string{Auto, Off}},
		{"attention.bell", s.Attention.Bell, []string{Auto, Always, Never}},
		{"attention.progress", s.Attention.Progress, []string{Auto, Always, Never}},
	} {
		if c.value != "" && !slices.Contains(c.choices, c.value) {
			return strings.Split(c.key, "."), fmt.Errorf("%s: must be one of %s, not %q", c.key, strings.Join(c.choices, ", "), c.value)
		}
	}
	names := styleNames()
	for name, value := range s.Theme.Colours {
		path := []string{"theme", "colours", name}
		if !slices.Contains(names, name) {
			hint := "there are " + strings.Join(names, ", ")
			if near := config.Nearest(name, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			return path, fmt.Errorf("theme.colours: there is no colour %q; %s", name, hint)
		}
		if !colour.MatchString(value) {
			return path, fmt.Errorf("theme.colours.%s: must be a colour such as \"#56b4e9\", not %q", name, value)
		}
	}
	for key, does := range s.Keys {
		if key == "" || does == "" || key == "ctrl+c" {
			return []string{"keys", key}, fmt.Errorf("keys: %q = %q: must name two keys, such as \"ctrl+p\" = \"space\"; ctrl+c stays what "+
				"it is", key, does)
		}
	}
	return nil, nil
}

// styles are those of a theme that have a colour of the user's.
func styles(t *theme.Theme) map[string]*plot.Style {
	return map[string]*plot.Style{
		"text": &t.Text, "faint": &t.Faint, "border": &t.Border, "focus": &t.Focus, "title": &t.Title, "key": &t.Key,
		"good": &t.Good, "warn": &t.Warn, "bad": &t.Bad, "selected": &t.Selected,
	}
}

func styleNames() []string {
	var names []string
	for name := range styles(&theme.Theme{}) {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Dark is the ground, given what the terminal says.
func (s *Settings) Dark(dark bool) bool {
	switch s.Theme.Ground {
	case "dark":
		return true
	case "light":
		return false
	}
	return dark
}

// Glyphs are the characters of charts; KESTREL_GLYPHS goes before the file.
func (s *Settings) Glyphs(env func(string) string) plot.Glyphs {
	if env("KESTREL_GLYPHS") != "" || s.Theme.Characters == "" || s.Theme.Characters == Auto {
		return theme.GlyphsFor(env)
	}
	return theme.GlyphsFor(func(string) string { return s.Theme.Characters })
}

// Paint gives a theme the user's colours, where the terminal has more than 16: the
// ground of what is selected, and the letters of all others.
func (s *Settings) Paint(t *theme.Theme) {
	if t.Profile <= colorprofile.ANSI {
		return
	}
	to := styles(t)
	for name, value := range s.Theme.Colours {
		v, _ := strconv.ParseUint(value[1:], 16, 32) // it has been checked
		c := plot.RGB(uint8(v>>16), uint8(v>>8), uint8(v))
		if name == "selected" {
			to[name].BG = c
			to[name].Attr &^= plot.Reverse
		} else {
			to[name].FG = c
		}
	}
}

// Key is the key of the program that a key is to be.
func (s *Settings) Key(key string) string {
	if does, ok := s.Keys[key]; ok {
		return does
	}
	return key
}
