package study

import (
	"strconv"

	"kestrel/experiment/inside"
	"kestrel/experiment/record"
)

// CalibrationTable is the CSV file of a calibration, to which a row is added as soon
// as it is known.
type CalibrationTable struct {
	file  *tableFile
	known map[calibrationKey]*CalibrationRow
}

type calibrationKey struct {
	space string
	seed  uint64
}

// calibrationName is the name of the table.
const calibrationName = record.StudyPrefix + "calibration.csv"

func calibrationColumns() []string {
	return []string{"space", "seed", "rows", "noise", "draws", "generator", "leader", "fitted", "class_size", "hit",
		"belief_bayes", "belief_posterior", "belief_point_bayes", "own_bayes", "own_posterior", "own_point_bayes", "exact_gap", "seconds",
		"failure"}
}

// OpenCalibration opens the table in a directory, or makes it. What is known is
// read, and a line that a killed process had not completed is cut off.
func OpenCalibration(dir *inside.Dir) (*CalibrationTable, error) {
	t := &CalibrationTable{known: map[calibrationKey]*CalibrationRow{}}
	var err error
	if t.file, err = openTable(dir, calibrationName, calibrationColumns()); err != nil {
		return nil, err
	}
	for i, cells := range t.file.records {
		p := reader{cells: cells}
		r := &CalibrationRow{
			Space: cells[0], Seed: p.seed(1), Rows: p.whole(2), Noise: p.number(3), Draws: p.whole(4),
			Generator: text(cells[5]), Leader: text(cells[6]), Fitted: p.whole(7), ClassSize: p.whole(8), Hit: cells[9] == "true",
			Bayes: p.number(10), Posterior: p.number(11), PointBayes: p.number(12),
			OwnBayes: p.number(13), OwnPosterior: p.number(14), OwnPointBayes: p.number(15),
			ExactGap: p.number(16), Seconds: p.number(17), Failure: text(cells[18]),
		}
		if p.err != nil {
			t.Close()
			return nil, t.file.damaged(i, p.err)
		}
		t.known[calibrationKey{r.Space, r.Seed}] = r
	}
	if err := t.file.settle(dir); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Known returns what is known of a seed; nil where it is not.
func (t *CalibrationTable) Known(space string, seed uint64) *CalibrationRow {
	return t.known[calibrationKey{space, seed}]
}

// Add adds a row, unless it is there.
func (t *CalibrationTable) Add(r *CalibrationRow) error {
	key := calibrationKey{r.Space, r.Seed}
	if t.known[key] != nil {
		return nil
	}
	cells := []string{r.Space, strconv.FormatUint(r.Seed, 10), strconv.Itoa(r.Rows), r.Noise.String(), strconv.Itoa(r.Draws),
		r.Generator, r.Leader, strconv.Itoa(r.Fitted), strconv.Itoa(r.ClassSize), strconv.FormatBool(r.Hit),
		r.Bayes.String(), r.Posterior.String(), r.PointBayes.String(), r.OwnBayes.String(), r.OwnPosterior.String(), r.OwnPointBayes.String(),
		r.ExactGap.Known(""), r.Seconds.String(), r.Failure}
	if err := t.file.write([][]string{cells}); err != nil {
		return err
	}
	t.known[key] = r
	return nil
}

// Close closes the file.
func (t *CalibrationTable) Close() error {
	if t.file.File == nil {
		return nil
	}
	return t.file.Close()
}
