package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.com/kestrel/experiment/files"
)

// Figure is what a comparison reads of a program's last line, one JSON
// object.
type Figure struct {
	MsMin     float64       `json:"ms_min"`
	ELBOStart *files.Number `json:"elbo_start,omitempty"`
}

// Comparison is the outcome of rounds in which two programs alternated.
type Comparison struct {
	Command string    `json:"against"`
	Ratio   float64   `json:"ratio"` // least time of the peer over ours: how many times faster we are
	Ours    []float64 `json:"ours_ms"`
	Peer    []float64 `json:"peer_ms"`
	// The largest time of all rounds over the least, less 1.
	OursSpread float64       `json:"ours_spread"`
	PeerSpread float64       `json:"peer_spread"`
	OursELBO   *files.Number `json:"ours_elbo_start,omitempty"`
	PeerELBO   *files.Number `json:"peer_elbo_start,omitempty"`
	Warning    string        `json:"warning,omitempty"`
}

// elboTolerance is the relative difference between starting ELBOs beyond which
// two programs do not do the same work.
const elboTolerance = 1e-6

// Compare lets two programs take turns for so many rounds, in the next round
// the other way round. Both are started afresh each time.
func Compare(command string, rounds int, ours, peer func() (*Figure, error)) (*Comparison, error) {
	c := &Comparison{Command: command}
	turn := func(run func() (*Figure, error), ms *[]float64, elbo **files.Number) error {
		f, err := run()
		if err != nil {
			return err
		}
		*ms, *elbo = append(*ms, f.MsMin), f.ELBOStart
		return nil
	}
	for r := range rounds {
		turns := []func() error{
			func() error { return turn(ours, &c.Ours, &c.OursELBO) },
			func() error { return turn(peer, &c.Peer, &c.PeerELBO) },
		}
		if r%2 == 1 {
			slices.Reverse(turns)
		}
		for _, t := range turns {
			if err := t(); err != nil {
				return nil, err
			}
		}
	}
	c.Ratio = slices.Min(c.Peer) / slices.Min(c.Ours)
	c.OursSpread = slices.Max(c.Ours)/slices.Min(c.Ours) - 1
	c.PeerSpread = slices.Max(c.Peer)/slices.Min(c.Peer) - 1
	if c.OursELBO != nil && c.PeerELBO != nil {
		ours, peer := float64(*c.OursELBO), float64(*c.PeerELBO)
		if d := math.Abs(ours-peer) / math.Abs(peer); !(d <= elboTolerance) {
			c.Warning = fmt.Sprintf("the ELBOs at the start differ by %.1e relative: the two do not do the same work", d)
		}
	}
	return c, nil
}

// WriteText writes a comparison for people.
func (c *Comparison) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "against      %s\nratio        %.2f, the least time of the peer over ours\n", c.Command, c.Ratio)
	for _, side := range []struct {
		name   string
		ms     []float64
		spread float64
		elbo   *files.Number
	}{{"ours", c.Ours, c.OursSpread, c.OursELBO}, {"peer", c.Peer, c.PeerSpread, c.PeerELBO}} {
		var rounds []string
		for _, v := range side.ms {
			rounds = append(rounds, figures(v))
		}
		_, e := fmt.Fprintf(w, "%s         %s ms; rounds %s; spread %.0f %%; ELBO at start %s\n", side.name,
			figures(slices.Min(side.ms)), strings.Join(rounds, " "), 100*side.spread, optional("%.13g", (*float64)(side.elbo), 1))
		err = errors.Join(err, e)
	}
	if c.Warning != "" {
		_, e := fmt.Fprintf(w, "warning      %s\n", c.Warning)
		err = errors.Join(err, e)
	}
	return err
}

// ShellCommand is a command line for the system's shell.
func ShellCommand(ctx context.Context, line string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.CommandContext(ctx, "cmd", "/c", line)
	}
	return exec.CommandContext(ctx, "sh", "-c", line)
}

// ReadFigure runs a program whose last line is a JSON object with ms_min.
// Errors are one line: what the program said last, if it failed.
func ReadFigure(cmd *exec.Cmd, name string) (*Figure, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // for what a shell has started and leaves behind when interrupted
	if err := cmd.Run(); err != nil {
		if said := lastLine(stderr.String()); said != "" {
			return nil, fmt.Errorf("%s failed (%w): %s", name, err, said)
		}
		return nil, fmt.Errorf("%s failed: %w", name, err)
	}
	line := lastLine(stdout.String())
	f := &Figure{}
	if err := json.Unmarshal([]byte(line), f); err != nil || !(f.MsMin > 0) {
		return nil, fmt.Errorf("%s: its last line %q is not a JSON object with ms_min", name, shorten(line))
	}
	return f, nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// shorten cuts a long line.
func shorten(line string) string {
	const most = 80
	if r := []rune(line); len(r) > most {
		return string(r[:most]) + "…"
	}
	return line
}
