package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/study"
)

// bySeed makes something of each of some seeds, in their order, and writes it as it is known.
type bySeed[R any] struct {
	title string // before a seed
	seeds []uint64
	out   string
	quiet bool
	first *config.Config
	crew  *clusterFlags
	alone bool // a seed takes all lanes of a worker

	known func(uint64) (R, bool) // from before
	here  func(context.Context, uint64) (R, error)
	by    func(context.Context, series.Crew, uint64) (R, error)
	write func(R) error
	end   func([]R) error // with what there is; not of nothing
}

// openSeeds takes the directory of such a study and opens its table.
func openSeeds[T io.Closer](cmd *cobra.Command, out string, quiet bool, asked series.Asked, seeds []uint64,
	open func(*inside.Dir) (T, error), known func(T, uint64) bool) (table T, shut func() error, err error) {
	dir, err := series.TakeAsked(out, asked, nil, func(key, was, is string) bool {
		return key == "--seeds" && study.MoreSeeds(was, is)
	})
	if err != nil {
		return table, nil, err
	}
	if table, err = open(dir.Owner.Dir); err != nil {
		dir.GiveUp()
		return table, nil, err
	}
	done := 0
	for _, seed := range seeds {
		if known(table, seed) {
			done++
		}
	}
	if dir.Known && done < len(seeds) && !quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), series.GoesOn(done, len(seeds)))
	}
	return table, func() error { return cmp.Or(table.Close(), dir.Close()) }, nil
}

// make makes all seeds. An interruption leaves what there is, and its end.
func (s *bySeed[R]) make(cmd *cobra.Command) error {
	run, leave, err := s.begin(cmd.Context(), cmd)
	if err != nil {
		return failed(err)
	}
	var all []R
	var workErr error
	defer func() { leave(workErr == nil) }()
	for i, seed := range s.seeds {
		made, known := s.known(seed)
		if !s.quiet {
			more := ""
			if known {
				more = ": finished already"
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s, seed %d, %d of %d%s\n", s.title, seed, i+1, len(s.seeds), more)
		}
		if !known {
			if made, workErr = run(seed); workErr != nil {
				break
			}
		}
		all = append(all, made)
		if err := s.write(made); err != nil {
			return failed(err)
		}
	}
	if len(all) > 0 {
		if err := s.end(all); err != nil {
			return failed(err)
		}
	}
	if errors.Is(workErr, errInterrupted) {
		line := "interrupted; the rows written so far are whole"
		if s.out != "" {
			line += "; " + again(cmd, s.out) + " goes on"
		}
		return &exitError{exitInterrupted, errors.New(line)}
	}
	return workErr
}

// begin makes ready what makes seeds: this process, one after the other, or, where others take
// part, all at once. end is told whether all have been made.
func (s *bySeed[R]) begin(ctx context.Context, cmd *cobra.Command) (run func(uint64) (R, error), end func(over bool), err error) {
	say := oneByOne(func(line string) {
		if !s.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
	})
	crew, leave, err := s.crew.crew(ctx, cmd, s.out, s.quiet, s.first.Device, s.first.Cluster, say)
	if err != nil {
		return nil, nil, err
	}
	if crew == nil {
		return func(seed uint64) (R, error) { return s.here(ctx, seed) }, leave, nil
	}
	crew.Alone(s.alone)
	var missing []uint64
	for _, seed := range s.seeds {
		if _, known := s.known(seed); !known {
			missing = append(missing, seed)
		}
	}
	run, stop := ahead(ctx, missing, func(ctx context.Context, seed uint64) (R, error) { return s.by(ctx, crew, seed) })
	return run, func(over bool) { stop(); leave(over) }, nil
}
