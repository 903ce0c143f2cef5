package study

import (
	"encoding/json"
	"fmt"
	"strconv"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/kernelspace"
)

// course is what is known of a data set whose searches take hours and may be cut: a table of its
// own, to which each step is added, until the row of the data set is known. All that searches do
// follows from it and from the seed. The zero course is of what nobody keeps.
type course struct {
	table *series.Table // nil: it is not kept

	planted *plantedStep
	grown   *PlantedRow
	trained []trainedStep // in the order in which they came, a kernel that has been climbed since again
}

// plantedStep is the kernel that is needed as it is.
type plantedStep struct {
	Drawn  int          `json:"drawn"`
	Needed files.Number `json:"needed"`
	Nats   files.Number `json:"nats"` // its evidence
}

// trainedStep is what a search of a kernel's hyperparameters came to.
type trainedStep struct {
	Kernel  string         `json:"kernel"`
	Nats    files.Number   `json:"nats"`
	Volume  files.Number   `json:"volume"`
	Free    []files.Number `json:"free"`
	Climbed bool           `json:"climbed"`
	CPU     files.Number   `json:"cpu"` // s, since the step before it
}

// What a step is of.
const (
	stepPlanted = "planted"
	stepGrown   = "growth"
	stepTrained = "trained"
)

func courseName(seed uint64) string {
	return record.StudyPrefix + "planted-" + strconv.FormatUint(seed, 10) + ".csv"
}

// openCourse opens the table of a seed in a directory, or makes it, and reads what is there.
func openCourse(dir *inside.Dir, seed uint64) (*course, error) {
	c := &course{}
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
	case stepGrown:
		return json.Unmarshal(value, &c.grown)
	case stepTrained:
		var k trainedStep
		err := json.Unmarshal(value, &k)
		c.trained = append(c.trained, k)
		return err
	}
	return fmt.Errorf("a step %q is not known", step)
}

// add keeps steps of a kind, all or none.
func (c *course) add(step string, values ...any) error {
	if c.table == nil || len(values) == 0 {
		return nil
	}
	rows := make([][]string, len(values))
	for i, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		rows[i] = []string{step, string(text)}
	}
	return c.table.Write(rows)
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
		e, err := kernelspace.Parse(s.Kernel)
		if err != nil {
			return fmt.Errorf("%s: %w", courseName(t.seed), err)
		}
		k := &trained{id: s.Kernel, expr: e.Canonical(), nats: float64(s.Nats), volume: float64(s.Volume), climbed: s.Climbed}
		for _, v := range s.Free {
			k.free = append(k.free, float64(v))
		}
		t.trained[k.id] = k
		t.cpu += float64(s.CPU)
	}
	return nil
}

// keep keeps what is known of kernels since the last time.
func (t *planting) keep(kernels ...*trained) error {
	now := cpuSeconds()
	spent := now - t.since
	t.cpu, t.since = t.cpu+spent, now
	steps := make([]any, len(kernels))
	for i, k := range kernels {
		s := trainedStep{Kernel: k.id, Nats: files.Number(k.nats), Volume: files.Number(k.volume), Climbed: k.climbed}
		for _, v := range k.free {
			s.Free = append(s.Free, files.Number(v))
		}
		if i == len(kernels)-1 {
			s.CPU = files.Number(spent)
		}
		steps[i] = s
	}
	return t.course.add(stepTrained, steps...)
}
