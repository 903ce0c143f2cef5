//go:build unix

package datasets

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func makePipe(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A pipe is refused wherever a table may be named, without waiting for a writer.
func TestPipesAreRefused(t *testing.T) {
	pipe := makePipe(t, "pipe.csv.gz")
	book := makePipe(t, "EnergieUebersichtCH-2009.xls")
	table := writeFile(t, "t.csv", "x,y\n1,2\n2,3\n")
	places := writeFile(t, "places.txt", "1 2 3\n")
	motes := makePipe(t, intelLocations)
	log := filepath.Join(filepath.Dir(motes), "data.txt")
	if err := os.WriteFile(log, []byte("2004-03-31 03:38:15 2 1 22.153 -3.91 11.04 2.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]Spec{
		"table":        {Path: pipe},
		"mask":         {Path: table, SplitBy: "mask", Mask: pipe},
		"workbook":     {Path: book, Source: "swissgrid"},
		"folder":       {Path: filepath.Dir(book), Source: "swissgrid"},
		"consumption":  {Path: pipe, Source: "swissgrid"},
		"log":          {Path: pipe, Source: "ieq", Locations: places},
		"places":       {Path: log, Source: "ieq"},
		"named places": {Path: log, Source: "ieq", Locations: pipe},
	} {
		if _, err := Load(t.Context(), spec); !errors.Is(err, errPipe) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadHeader(Spec{Path: pipe}); !errors.Is(err, errPipe) {
		t.Error(err)
	}
	if IsWorkbook(book) || !leadsToPipe(t, book) || leadsToPipe(t, table) {
		t.Error("a pipe is taken for something else")
	}
}

// Points may come from a pipe, but nobody waits for them longer than the context
// lasts: nobody writes, nothing is written, or only a beginning.
func TestPointsFromAPipe(t *testing.T) {
	like := loadText(t, "x,y\n1,2\n2,3\n3,4\n", Spec{})
	pipe := makePipe(t, "pipe")
	write := func(pipe, text string) (done chan struct{}) {
		done = make(chan struct{})
		go func() {
			w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
			} else if _, err := w.WriteString(text); err != nil {
				t.Error(err)
			}
			<-done
			w.Close()
		}()
		return done
	}
	close(write(pipe, "x\n5\n6\n"))
	p, err := OpenPoints(t.Context(), Spec{Path: pipe}, like)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Next(t.Context(), 10)
	if err != nil || !equalFloats(got.X, []float64{5, 6}) {
		t.Errorf("%v %v", got, err)
	}
	if n := strings.Join(p.Notices(), "\n"); !strings.Contains(n, "is a pipe") {
		t.Error(n)
	}
	p.Close()

	for _, text := range []string{"no writer", "", "x\n5\n", "\x1f\x8b\x08"} {
		// Each its own: the last one's writer may not have closed yet, and would be
		// taken for this one's.
		pipe := makePipe(t, "pipe")
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		over := make(chan struct{})
		if text != "no writer" {
			over = write(pipe, text)
		}
		p, err := OpenPoints(ctx, Spec{Path: pipe}, like)
		if err == nil {
			_, err = p.Next(ctx, 10)
			p.Close()
		}
		if ctx.Err() == nil || err == nil {
			t.Errorf("%q: %v", text, err)
		}
		cancel()
		if text == "no writer" { // whoever still waits for one is let go
			over = write(pipe, "")
		}
		close(over)
	}
}

func leadsToPipe(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return isPipe(info)
}
