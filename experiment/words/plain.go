package words

import (
	"io"
	"sync"
	"unicode/utf8"

	"example.com/kestrel/datasets"
)

// PlainLine makes foreign text one line that is fit for a terminal, as
// datasets.PlainLine does; for those who see only this package.
func PlainLine(text string) string { return datasets.PlainLine(text) }

// PlainWriter returns a writer that passes text on as datasets.Plain makes it,
// so that nothing from a file, such as a column's name or a line of a log, can
// steer the terminal that w is. A character may come in several writes; one
// that never becomes whole is left out. It is safe for concurrent use if w is.
func PlainWriter(w io.Writer) io.Writer { return &plainWriter{w: w} }

type plainWriter struct {
	w    io.Writer
	mu   sync.Mutex
	rest []byte // of a character begun
}

// Unwrap returns the writer below.
func (p *plainWriter) Unwrap() io.Writer { return p.w }

func (p *plainWriter) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := append(p.rest, text...)
	whole := len(all)
	for back := 1; back < utf8.UTFMax && back <= len(all); back++ {
		if at := len(all) - back; utf8.RuneStart(all[at]) {
			if !utf8.FullRune(all[at:]) {
				whole = at
			}
			break
		}
	}
	_, err := io.WriteString(p.w, datasets.Plain(string(all[:whole])))
	p.rest = append([]byte(nil), all[whole:]...)
	if err != nil {
		return 0, err
	}
	return len(text), nil
}
