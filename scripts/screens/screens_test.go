package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// texts reads an SVG as any program does, and returns what is written in it, and
// its paths by their attribute d.
func texts(t *testing.T, svg string) (written []string, paths map[string]string) {
	t.Helper()
	paths = map[string]string{}
	d := xml.NewDecoder(strings.NewReader(svg))
	for name := ""; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return written, paths
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			name = e.Name.Local
			var all []string
			path := ""
			for _, a := range e.Attr {
				if a.Name.Local == "d" {
					path = a.Value
				} else {
					all = append(all, a.Name.Local+"="+a.Value)
				}
			}
			if name == "path" {
				paths[path] = strings.Join(all, " ")
			}
		case xml.CharData:
			if name == "text" && strings.TrimSpace(string(e)) != "" {
				written = append(written, string(e))
			}
		case xml.EndElement:
			name = ""
		}
	}
}

// Colours by number, bold, and back; a tag is not one in the SVG; what a line holds
// does not depend on the sequences in it.
func TestWhatIsWritten(t *testing.T) {
	s := parse("\x1b[1m\x1b[38;5;196mq* <b>\x1b[0m  next\x1b[7m rev\x1b[27m\n\x1b[48;2;1;2;3m \x1b[49mend")
	if got := s[0][0]; got.colour != "#ff0000" || !got.bold || got.char != 'q' {
		t.Errorf("the first cell is %+v", got)
	}
	if got := s[0][9]; got.colour != ink || got.bold {
		t.Errorf("after the end of colours a cell is %+v", got)
	}
	if got := s[0][14]; got.colour != paper || got.behind != ink {
		t.Errorf("a reversed cell is %+v", got)
	}
	if got := s[1][0]; got.behind != "#010203" {
		t.Errorf("a cell with something behind is %+v", got)
	}
	written, paths := texts(t, draw([]screen{s}, 1, 0, "a <title>"))
	if len(written) < 3 || written[0] != "q* <b>" || written[1] != "next" {
		t.Errorf("written is %q", written)
	}
	if paths["M0 0h8v16h-8z"] != "fill=#010203" {
		t.Errorf("the paths are %v", paths)
	}
}

// Lines meet at the edges of their cells, and dots of Braille stand where Unicode
// has them: 1 to 3 and 7 on the left from above, 4 to 6 and 8 on the right.
func TestWhatIsDrawn(t *testing.T) {
	for text, want := range map[string]string{
		"───": "M0 8H24", "│": "M4 0v16", "┤": "M0 8H4M4 0v16", "╭": "M4 16Q4 8 8 8", "⠁⣀": "M2 2h0M10 14h0M14 14h0",
		"█": "M0 0h8v16h-8z", "▌": "M0 0h4v16h-4z", "▂": "M0 12h8v4h-8z",
	} {
		if _, paths := texts(t, draw([]screen{parse(text)}, 1, 0, "")); len(paths) != 1 || paths[want] == "" {
			t.Errorf("%s is %v, want %s", text, paths, want)
		}
	}
}

// Of a film each line is there once for as long as it stays, and where nothing moves
// one screen is seen.
func TestFilm(t *testing.T) {
	svg := draw([]screen{parse("stays\none"), parse("stays\ntwo"), parse("stays\ntwo")}, .5, 1, "")
	if written, _ := texts(t, svg); strings.Join(written, " ") != "stays one two" {
		t.Errorf("written is %q", written)
	}
	for _, want := range []string{
		`<g class="f0-1" opacity="0"><text`, `<g class="f1-3"><text`,
		"@keyframes f1-3{0%{opacity:0}33.33%{opacity:1}100%{opacity:0}}.f1-3{animation:f1-3 1.5s step-end infinite}",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is not in\n%s", want, svg)
		}
	}
}
