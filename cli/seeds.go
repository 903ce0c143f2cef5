package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

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
	asked series.Asked
	out   string // directory of the table; "": none
	quiet bool
	first *config.Config
	crew  *clusterFlags
	alone bool // a seed takes all lanes of a worker

	open func(*inside.Dir) (seedTable[R], error)
	some func(R) bool // whether it is anything: what a table knows of a seed
	here func(context.Context, uint64) (R, error)
	by   func(context.Context, series.Crew, uint64) (R, error)
	sink interface {
		begin() error
		write(R) error
	}
	end func([]R) error // with what there is; not of nothing

	table seedTable[R] // nil without a directory
}

// seedTable keeps what is made.
type seedTable[R any] interface {
	Known(seed uint64) R
	Add(R) error
	Close() error
}

// run makes the study.
func (s *bySeed[R]) run(cmd *cobra.Command) (err error) {
	if s.out != "" {
		shut, err := s.take(cmd)
		if err != nil {
			return err
		}
		defer func() {
			if e := shut(); err == nil {
				err = failed(e)
			}
		}()
	}
	keep(cmd)
	if err := s.sink.begin(); err != nil {
		return failed(err)
	}
	return s.make(cmd)
}

// take takes the directory and opens its table.
func (s *bySeed[R]) take(cmd *cobra.Command) (shut func() error, err error) {
	dir, err := series.TakeAsked(s.out, s.asked, nil, func(key, was, is string) bool {
		return key == "--seeds" && study.MoreSeeds(was, is)
	})
	if err != nil {
		return nil, err
	}
	if s.table, err = s.open(dir.Owner.Dir); err != nil {
		dir.GiveUp()
		return nil, err
	}
	done := 0
	for _, seed := range s.seeds {
		if _, known := s.known(seed); known {
			done++
		}
	}
	if dir.Known && done < len(s.seeds) && !s.quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), series.GoesOn(done, len(s.seeds)))
	}
	return func() error { return cmp.Or(s.table.Close(), dir.Close()) }, nil
}

// known is what there is of a seed from before.
func (s *bySeed[R]) known(seed uint64) (made R, known bool) {
	if s.table == nil {
		return made, false
	}
	made = s.table.Known(seed)
	return made, s.some(made)
}

// write adds what was made to the table, if there is one, and writes it.
func (s *bySeed[R]) write(made R) error {
	if s.table != nil {
		if err := s.table.Add(made); err != nil {
			return err
		}
	}
	return s.sink.write(made)
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
