package study

import (
	"errors"
	"io/fs"
	"strconv"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
)

// PlantedTable is the CSV file of a study of planted kernels, to which a row is added as soon
// as it is known.
type PlantedTable struct {
	dir   *inside.Dir
	file  *series.Table
	known map[uint64]*PlantedRow
}

// RivalNames are the searches that growth is compared with, in order.
func RivalNames() []string { return []string{"random", "cks", "bo"} }

func plantedColumns() []string {
	out := []string{"bases", "seed", "rows", "noise", "drawn", "needed", "planted", "leader", "leader_leaves", "gap", "prior_gap",
		"tried", "tried_then", "as_good", "as_good_then", "met", "cpu"}
	for _, name := range RivalNames() {
		out = append(out, name+"_trained", name+"_found")
	}
	return append(out, "cpu_others", "failure")
}

// OpenPlanted opens the table in a directory, or makes it. What is known is read, and a line
// that a killed process had not completed is cut off.
func OpenPlanted(dir *inside.Dir) (*PlantedTable, error) {
	t := &PlantedTable{dir: dir, known: map[uint64]*PlantedRow{}}
	var err error
	if t.file, err = series.OpenTable(dir, record.StudyPrefix+"planted.csv", plantedColumns()); err != nil {
		return nil, err
	}
	for i, cells := range t.file.Records {
		p := series.Cells{Cells: cells}
		r := &PlantedRow{
			Bases: series.Text(cells[0]), Seed: p.Seed(1), Rows: p.Whole(2), Noise: p.Number(3), Drawn: p.Whole(4), Needed: p.Number(5),
			Planted: series.Text(cells[6]), Leader: series.Text(cells[7]), LeaderLeaves: p.Whole(8), Gap: p.Number(9), PriorGap: p.Number(10),
			Tried: p.Whole(11), TriedThen: p.Whole(12), AsGood: series.Text(cells[13]), AsGoodThen: p.Whole(14),
			Met: cells[15] == "true", CPU: p.Number(16),
		}
		at := 17
		for _, name := range RivalNames() {
			if cells[at] != "" {
				r.Others = append(r.Others, RivalRow{name, p.Whole(at), cells[at+1] == "true"})
			}
			at += 2
		}
		r.CPUOthers, r.Failure = p.Number(at), series.Text(cells[at+1])
		if p.Err != nil {
			t.Close()
			return nil, t.file.Damaged(i, p.Err)
		}
		t.known[r.Seed] = r
	}
	if err := t.file.Settle(dir); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Known returns what is known of a seed; nil where it is not.
func (t *PlantedTable) Known(seed uint64) *PlantedRow { return t.known[seed] }

// Add adds a row, unless it is there.
func (t *PlantedTable) Add(r *PlantedRow) error {
	if t.known[r.Seed] != nil {
		return nil
	}
	cells := []string{r.Bases, strconv.FormatUint(r.Seed, 10), strconv.Itoa(r.Rows), r.Noise.String(), strconv.Itoa(r.Drawn),
		r.Needed.Known(""), r.Planted, r.Leader,
		strconv.Itoa(r.LeaderLeaves), r.Gap.Known(""), r.PriorGap.Known(""), strconv.Itoa(r.Tried), strconv.Itoa(r.TriedThen),
		r.AsGood, strconv.Itoa(r.AsGoodThen), strconv.FormatBool(r.Met), r.CPU.String()}
	for i := range RivalNames() {
		if i < len(r.Others) {
			cells = append(cells, strconv.Itoa(r.Others[i].Trained), strconv.FormatBool(r.Others[i].Found))
		} else {
			cells = append(cells, "", "")
		}
	}
	if err := t.file.Write([][]string{append(cells, r.CPUOthers.String(), r.Failure)}); err != nil {
		return err
	}
	t.known[r.Seed] = r
	for _, name := range []string{courseName(r.Seed), courseState(r.Seed)} {
		if err := t.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// course opens what is kept of a data set whose row is not known yet.
func (t *PlantedTable) course(seed uint64) (*course, error) { return openCourse(t.dir, seed) }

// Close closes the file.
func (t *PlantedTable) Close() error { return t.file.Close() }
