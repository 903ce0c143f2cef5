package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/npz"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// course is what is known of a data set whose searches take hours and may be cut: a table of its
// own, to which each step is added, until the row of the data set is known. All that searches do
// follows from it and from the seed. The zero course is of what nobody keeps.
type course struct {
	table *series.Table // nil: it is not kept
	dir   *inside.Dir   // where it is
	seed  uint64

	planted     *plantedStep
	evaluations []GrownStep // of growth, in their order
	grown       *PlantedRow
	trained     []trainedStep // in their order
}

// plantedStep is the kernel that is needed as it is.
type plantedStep struct {
	Drawn  int          `json:"drawn"`
	Needed files.Number `json:"needed"`
	Nats   files.Number `json:"nats"` // its evidence
}

// trainedStep is what a search of the hyperparameters of some kernels came to, all or none of them, for they
// learn from each other; or one that has been climbed since.
type trainedStep struct {
	Kernels []trainedKernel `json:"kernels"`
	CPU     files.Number    `json:"cpu"` // s, since the step before it
}

// trainedKernel is one of them.
type trainedKernel struct {
	Kernel  string         `json:"kernel"`
	Nats    files.Number   `json:"nats"`
	Volume  files.Number   `json:"volume"`
	Free    []files.Number `json:"free"`
	Climbed bool           `json:"climbed"`
}

// What a step is of.
const (
	stepPlanted = "planted"
	stepGrowing = "evaluation"
	stepGrown   = "growth"
	stepTrained = "trained"
)

func courseName(seed uint64) string { return courseStem(seed) + ".csv" }

// courseState is the name of the file from which a growth that was cut goes on.
func courseState(seed uint64) string { return courseStem(seed) + ".npz" }

func courseStem(seed uint64) string {
	return record.StudyPrefix + "planted-" + strconv.FormatUint(seed, 10)
}

// openCourse opens the table of a seed in a directory, or makes it, and reads what is there.
func openCourse(dir *inside.Dir, seed uint64) (*course, error) {
	c := &course{dir: dir, seed: seed}
	dir.RemoveLeftovers(courseState(seed))
	var err error
	if c.table, err = series.OpenTable(dir, courseName(seed), []string{"step", "value"}); err != nil {
		return nil, err
	}
	for i, cells := range c.table.Records {
		if err := c.read(cells[0], []byte(cells[1])); err != nil {
			c.close()
			return nil, c.table.Damaged(i, err)
		}
	}
	if err := c.table.Settle(dir); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *course) read(step string, value []byte) error {
	switch step {
	case stepPlanted:
		return json.Unmarshal(value, &c.planted)
	case stepGrowing:
		var s GrownStep
		if err := json.Unmarshal(value, &s); err != nil {
			return err
		}
		if s.Evaluation < 1 || s.Evaluation > len(c.evaluations)+1 {
			return fmt.Errorf("evaluation %d comes behind %d", s.Evaluation, len(c.evaluations))
		}
		c.evaluations = append(c.evaluations[:s.Evaluation-1], s) // those behind it had not been saved
		return nil
	case stepGrown:
		return json.Unmarshal(value, &c.grown)
	case stepTrained:
		var s trainedStep
		err := json.Unmarshal(value, &s)
		c.trained = append(c.trained, s)
		return err
	}
	return fmt.Errorf("a step %q is not known", step)
}

// add keeps a step.
func (c *course) add(step string, value any) error {
	if c.table == nil {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return c.table.Write([][]string{{step, string(text)}})
}

// grew keeps an evaluation of growth and what the trainer has learned with it.
func (c *course) grew(s *GrownStep, t *vbks.Trainer) error {
	if c.table == nil {
		return nil
	}
	if err := c.add(stepGrowing, s); err != nil {
		return err
	}
	return npz.Save(c.dir, courseState(c.seed), t.Checkpoint())
}

// learned is what a trainer had learned when its growth was cut; the error is fs.ErrNotExist where there was none.
func (c *course) learned() (map[string]vbks.Tensor, error) {
	if c.table == nil {
		return nil, fs.ErrNotExist
	}
	return npz.Load(c.dir, courseState(c.seed))
}

// unusable says what to do where growth cannot go on from what is kept.
func (c *course) unusable(err error) error {
	if !errors.Is(err, vbks.ErrCheckpoint) {
		return err
	}
	return fmt.Errorf("%w; remove %s, and growth on this data set begins anew", err, c.dir.Join(courseState(c.seed)))
}

func (c *course) close() error {
	if c.table == nil {
		return nil
	}
	return c.table.Close()
}

// recall makes known what had been trained.
func (t *planting) recall() error {
	for _, s := range t.course.trained {
		for _, was := range s.Kernels {
			e, err := kernelspace.Parse(was.Kernel)
			if err != nil {
				return fmt.Errorf("%s: %w", courseName(t.seed), err)
			}
			k := &trained{id: was.Kernel, expr: e.Canonical(), nats: float64(was.Nats), volume: float64(was.Volume), climbed: was.Climbed}
			for _, v := range was.Free {
				k.free = append(k.free, float64(v))
			}
			t.trained[k.id] = k
		}
		t.cpu += float64(s.CPU)
	}
	return nil
}

// keep keeps what is known of kernels since the last time.
func (t *planting) keep(kernels ...*trained) error {
	now := cpuSeconds()
	spent := now - t.since
	t.cpu, t.since = t.cpu+spent, now
	step := trainedStep{CPU: files.Number(spent)}
	for _, k := range kernels {
		is := trainedKernel{Kernel: k.id, Nats: files.Number(k.nats), Volume: files.Number(k.volume), Climbed: k.climbed}
		for _, v := range k.free {
			is.Free = append(is.Free, files.Number(v))
		}
		step.Kernels = append(step.Kernels, is)
	}
	return t.course.add(stepTrained, step)
}
