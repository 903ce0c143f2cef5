// Command screens draws screens of a terminal as one SVG: one as a picture,
// several as a film, which begins anew when it has ended.
//
//	tmux capture-pane -e -p >1.txt
//	go run ./scripts/screens 1.txt 2.txt >film.svg
//
// A file is a screen as tmux writes it, with escape sequences for colours; one
// that is to stay longer is named several times. Lines, blocks and dots of
// Braille are drawn, not written, so that they meet in any font.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	seconds := flag.Float64("seconds", 1, "for which each screen is shown")
	still := flag.Int("still", 0, "the screen shown where nothing can move, from 1; 0: the last")
	title := flag.String("title", "A terminal", "for who cannot see it")
	flag.Parse()
	if *still == 0 {
		*still = flag.NArg()
	}
	if flag.NArg() == 0 || !(*seconds > 0) || *still < 1 || *still > flag.NArg() {
		fmt.Fprintln(os.Stderr, "usage: screens [-seconds 1] [-still N] [-title TEXT] FILE...")
		os.Exit(2)
	}
	var film []screen
	for _, name := range flag.Args() {
		text, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "screens:", err)
			os.Exit(1)
		}
		film = append(film, parse(strings.TrimRight(string(text), "\n")))
	}
	os.Stdout.WriteString(draw(film, *seconds, *still-1, *title))
}
