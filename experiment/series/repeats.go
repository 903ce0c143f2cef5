package series

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"example.com/kestrel/datasets/elsewhere"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
)

// Repeats are runs of one config with seeds counting up, in 001, 002, … of a
// directory.
type Repeats struct {
	*Directory
	Maker
	N int

	config config.Config
	course record.Course
}

// BeginRepeats takes a directory for repeats: a new one, or that of the same config
// and course, of which there may be more or less now. Close must be called.
func BeginRepeats(ctx context.Context, c config.Config, course record.Course, n int, path string, say func(string)) (*Repeats, error) {
	if _, err := c.Kernels.Candidates(); err != nil {
		return nil, err
	}
	noting, opened := elsewhere.Noting(ctx)
	_, _, err := prepare.LoadSettled(noting, &c)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	r := &Repeats{N: n, Maker: Maker{Cores: c.Device.Cores, Say: say, Disk: c.Disk, Files: opened()}, config: c, course: course}
	asked := Asked{What: "series of runs", Configs: map[string]string{"": c.TOML()}, Flags: map[string]string{}, Disk: c.Disk}
	for flag, value := range map[string]int{"--prune-top": course.PruneTop, "--then-refine": course.ThenRefine,
		"--then-inducing": course.Inducing} {
		if value > 0 {
			asked.Flags[flag] = strconv.Itoa(value)
		}
	}
	if r.Directory, err = TakeAsked(path, asked, nil, nil); err != nil {
		return nil, err
	}
	if err = r.checkPlaces(); err == nil && !r.Known {
		err = prepare.CheckDevice(c.Device)
	}
	if err != nil {
		r.GiveUp()
		return nil, err
	}
	return r, nil
}

// checkPlaces returns an error if what has the place of a run is none, or a link.
func (r *Repeats) checkPlaces() error {
	for i := range r.N {
		path := r.Place(i + 1)
		for _, p := range []string{path, Partial(path)} {
			if err := r.CheckPlace(p); err != nil {
				return err
			}
		}
		if err := checkFree(path); err != nil {
			return err
		}
	}
	return nil
}

// Place is where run i of 1 to N is when it is finished.
func (r *Repeats) Place(i int) string { return filepath.Join(r.Path, fmt.Sprintf("%03d", i)) }

// Seed is that of run i.
func (r *Repeats) Seed(i int) uint64 { return r.config.Settings.Seed + uint64(i-1) }

// Finished reports whether run i is in its place.
func (r *Repeats) Finished(i int) bool { return rundir.IsRun(r.Place(i)) }

// Done counts the runs that are.
func (r *Repeats) Done() (n int) {
	for i := range r.N {
		if r.Finished(i + 1) {
			n++
		}
	}
	return n
}

// Make makes run i, or goes on with it.
func (r *Repeats) Make(ctx context.Context, i int, recorders ...record.Recorder) error {
	c := r.config.Clone()
	c.Settings.Seed = r.Seed(i)
	c.Data.Seed = c.Settings.Seed
	return r.Maker.Make(ctx, c, r.course, r.Place(i), recorders...)
}
