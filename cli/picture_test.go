//go:build linux || darwin

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

const (
	kittyPicture = "\x1b_Ga=T"
	kittyGone    = "\x1b_Ga=d"
	sixelPicture = "\x1bP0;1q"
)

// A terminal that shows pictures gets the fit as one, is rid of it in the next view, has
// it again on another size, and keeps none when the workbench is left.
func TestPictures(t *testing.T) {
	thorough.Unraced(t)
	table := filepath.Join(t.TempDir(), "waves.csv")
	must.OK(t, os.WriteFile(table, []byte(waveTable(60)), 0o644))
	_, _, run := runtest.Finished(t,
		configtest.Plane(t, table, "kernels.expressions=SE, LIN", "data.test=6", `data.inputs=["x"]`, "data.target=y"))

	p := start(t, "open "+run, "TERM=xterm-kitty", "TMUX=", "STY=", "KESTREL_WORKBENCH="+filepath.Join(t.TempDir(), "none"))
	pictures := func() int { return strings.Count(p.output(), kittyPicture) }
	p.until("the bench", func() bool { return strings.Contains(p.output(), "Kernels") })
	if pictures() > 0 {
		t.Error("the bench has a picture")
	}
	p.keys("3")
	p.until("the picture", func() bool { return pictures() > 0 })
	p.keys("2")
	p.until("its end", func() bool {
		return strings.LastIndex(p.output(), kittyGone) > strings.LastIndex(p.output(), kittyPicture)
	})
	before := pictures()
	p.keys("3")
	p.until("the picture again", func() bool { return pictures() > before })
	before = pictures()
	must.OK(t, pty.Setsize(p.tty, &pty.Winsize{Rows: 40, Cols: 130}))
	p.until("the picture on the other size", func() bool { return pictures() > before })
	p.keys("?")
	p.until("the help without it", func() bool {
		return strings.LastIndex(p.output(), kittyGone) > strings.LastIndex(p.output(), kittyPicture)
	})
	p.keys("?")
	if code := p.quit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.restored()
	out := p.output()
	if strings.LastIndex(out, kittyGone) < strings.LastIndex(out, kittyPicture) || strings.Contains(out, sixelPicture) {
		t.Errorf("left with a picture; the last output:\n%q", tail(out, 500))
	}

	p = start(t, "open "+run, "TERM=foot", "TMUX=", "STY=", "KESTREL_WORKBENCH="+filepath.Join(t.TempDir(), "none"))
	p.until("the bench", func() bool { return strings.Contains(p.output(), "Kernels") })
	p.keys("3")
	p.until("sixels", func() bool { return strings.Contains(p.output(), sixelPicture) })
	p.keys("2")
	p.until("the screen without them", func() bool {
		return strings.LastIndex(p.output(), "\x1b[2J") > strings.LastIndex(p.output(), sixelPicture)
	})
	p.quit()
	p.restored()

	// Within tmux nothing is asked, nor where the user wants none.
	off := filepath.Join(t.TempDir(), "workbench.toml")
	must.OK(t, os.WriteFile(off, []byte("[theme]\npictures = \"off\"\n"), 0o644))
	for _, env := range [][]string{
		{"TERM=xterm-kitty", "TMUX=/tmp/tmux-0/default,1,0"}, {"TERM=xterm-kitty", "TMUX=", "KESTREL_WORKBENCH=" + off},
	} {
		p = start(t, "open "+run, env...)
		p.until("the bench", func() bool { return strings.Contains(p.output(), "Kernels") })
		p.keys("3")
		p.until("the fit", func() bool { return strings.Contains(p.output(), "95 % of y") })
		p.quit()
		p.restored()
		if out := p.output(); strings.Contains(out, "\x1b_G") || strings.Contains(out, "\x1bP") || strings.Contains(out, "\x1b[c") {
			t.Errorf("%v: pictures are asked for", env)
		}
	}
}
