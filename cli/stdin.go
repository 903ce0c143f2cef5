package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/scratch"
)

// mostStandardInput bounds a table from standard input, in bytes: it is kept twice for a
// while, aside and with its run.
const mostStandardInput = 4 << 30

// takeStandardInput writes the table that comes from standard input to a file aside, from
// which a run takes its copy. done removes it.
func takeStandardInput(cmd *cobra.Command, c *config.Config) (done func(), err error) {
	if isTerminal(cmd.InOrStdin()) {
		fmt.Fprintln(cmd.ErrOrStderr(), "reading a table from the terminal, up to Ctrl-D")
	}
	dir, err := scratch.Make("stdin")
	if err != nil {
		return nil, failed(fmt.Errorf("keeping standard input: %w", err))
	}
	done = dir.Remove
	name := filepath.Join(dir.Path, "stdin")
	if err := copyAside(cmd.Context(), name, cmd.InOrStdin(), mostStandardInput); err != nil {
		done()
		return nil, err
	}
	c.Data.Path, c.KeepTable = name, true
	return done, nil
}

// copyAside copies what it reads to a file, at most so many bytes, until ctx ends.
func copyAside(ctx context.Context, name string, from io.Reader, most int64) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failed(fmt.Errorf("keeping standard input: %w", err))
	}
	copied := make(chan error, 1)
	go func() { // who reads may wait for ever
		n, err := io.Copy(file, io.LimitReader(from, most+1))
		if err == nil && n > most {
			err = fmt.Errorf("more than %d GB; write them to a file first", most>>30)
		}
		if e := file.Close(); err == nil {
			err = e
		}
		copied <- err
	}()
	select {
	case err := <-copied:
		if err != nil {
			err = fmt.Errorf("data from standard input: %w", err)
		}
		var disk *os.PathError
		if errors.As(err, &disk) {
			return failed(err)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
