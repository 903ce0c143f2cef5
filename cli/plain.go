package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/format"
)

// shorten cuts the middle out of a message that repeats what is far too long.
func shorten(line string) string {
	const head, tail = 2000, 500
	if len(line) <= head+tail {
		return line
	}
	return strings.ToValidUTF8(line[:head], "") + " […] " + strings.ToValidUTF8(line[len(line)-tail:], "")
}

// keepPlain keeps what a command writes from steering the terminal: names,
// paths and lines of logs may be anybody's. Into a file or a pipe its output
// goes as it is. Commands that only hold others write nothing but help, whose
// colours stay.
func keepPlain(cmd *cobra.Command) {
	if cmd.HasParent() && cmd.HasSubCommands() && !hasOwnFlags(cmd) {
		return
	}
	cmd.SetErr(words.PlainWriter(cmd.ErrOrStderr()))
	if out := cmd.OutOrStdout(); isTerminal(out) {
		cmd.SetOut(words.PlainWriter(out))
	}
}

// hasOwnFlags reports whether a command takes flags besides --help.
func hasOwnFlags(cmd *cobra.Command) (own bool) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { own = own || f.Name != "help" })
	return own
}

// waiting tells whoever waits for a command what is being done, and how long it will
// take: on a terminal in a line that is written over, elsewhere in a line now and then.
type waiting struct {
	out   io.Writer
	width func() int // of the terminal; nil: there is none
	began time.Time
	end   chan struct{}
	done  func() // ends it
	ended sync.WaitGroup

	mu    sync.Mutex
	step  prepare.Step
	meter record.Meter
}

// How often it is told, and what is over by then is not told at all.
const (
	tellOnScreen = 500 * time.Millisecond
	tellInLines  = 10 * time.Second
)

// tellWaiting lets the work of a context tell on standard error what it does, until
// done is called, which must be before anything else is written.
func tellWaiting(ctx context.Context, cmd *cobra.Command, quiet bool) (told context.Context, done func()) {
	if quiet {
		return ctx, func() {}
	}
	w := newWaiting(cmd)
	return prepare.Telling(ctx, w.take), w.done
}

func newWaiting(cmd *cobra.Command) *waiting {
	w := &waiting{out: cmd.ErrOrStderr(), began: time.Now(), end: make(chan struct{})}
	every := tellInLines
	if screen := w.out; isTerminal(screen) {
		if p, ok := screen.(interface{ Unwrap() io.Writer }); ok {
			screen = p.Unwrap() // the line steers the terminal
		}
		w.out, every = screen, tellOnScreen
		w.width = func() int { return terminalWidth(screen) }
	}
	w.ended.Go(func() { w.tell(every) })
	w.done = sync.OnceFunc(func() { close(w.end); w.ended.Wait() })
	return w
}

// line writes a line that stays.
func (w *waiting) line(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clear()
	fmt.Fprintln(w.out, words.PlainLine(text))
}

// clear takes the line that is written over away; the mutex is held.
func (w *waiting) clear() {
	if w.width != nil {
		fmt.Fprint(w.out, "\r\x1b[K")
	}
}

// take takes in what is being done.
func (w *waiting) take(s prepare.Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step = s
	w.meter.Take(s.Doing, s.Done, time.Now())
}

func (w *waiting) tell(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-w.end:
			w.mu.Lock()
			defer w.mu.Unlock()
			w.clear()
			return
		case now := <-tick.C:
			w.mu.Lock()
			text := words.PlainLine(w.text(now))
			if w.width == nil {
				fmt.Fprintln(w.out, text)
			} else {
				w.clear()
				fmt.Fprint(w.out, ansi.Truncate(text, max(10, w.width()-1), "…"))
			}
			w.mu.Unlock()
		}
	}
}

// text says what is being done, since when, and how long it will take; the mutex is held.
func (w *waiting) text(now time.Time) string {
	s := w.step
	if s.Doing == "" {
		s.Doing = "reading"
	}
	text := s.String() + "; " + format.Clock(now.Sub(w.began)) + " so far"
	if left := w.meter.Left(s.Doing, s.Done, s.Total, now); left >= time.Second {
		text += ", this step about " + format.Clock(left) + " more"
	}
	return text
}
