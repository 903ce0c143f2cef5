package study

import (
	"strconv"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
)

// CalibrationTable is the CSV file of a calibration, to which a row is added as soon
// as it is known.
type CalibrationTable struct {
	file  *series.Table
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
		"failure", "missed"}
}

// OpenCalibration opens the table in a directory, or makes it. What is known is
// read, and a line that a killed process had not completed is cut off.
func OpenCalibration(dir *inside.Dir) (*CalibrationTable, error) {
	t := &CalibrationTable{known: map[calibrationKey]*CalibrationRow{}}
	var err error
	if t.file, err = series.OpenTable(dir, calibrationName, calibrationColumns()); err != nil {
		return nil, err
	}
	for i, cells := range t.file.Records {
		p := series.Cells{Cells: cells}
		r := &CalibrationRow{
			Space: cells[0], Seed: p.Seed(1), Rows: p.Whole(2), Noise: p.Number(3), Draws: p.Whole(4),
			Generator: series.Text(cells[5]), Leader: series.Text(cells[6]), Fitted: p.Whole(7), ClassSize: p.Whole(8), Hit: cells[9] == "true",
			Bayes: p.Number(10), Posterior: p.Number(11), PointBayes: p.Number(12),
			OwnBayes: p.Number(13), OwnPosterior: p.Number(14), OwnPointBayes: p.Number(15),
			ExactGap: p.Number(16), Seconds: p.Number(17), Failure: series.Text(cells[18]), Missed: p.Number(19),
		}
		if p.Err != nil {
			t.Close()
			return nil, t.file.Damaged(i, p.Err)
		}
		t.known[calibrationKey{r.Space, r.Seed}] = r
	}
	if err := t.file.Settle(dir); err != nil {
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
		r.ExactGap.Known(""), r.Seconds.String(), r.Failure, r.Missed.Known("")}
	if err := t.file.Write([][]string{cells}); err != nil {
		return err
	}
	t.known[key] = r
	return nil
}

// Close closes the file.
func (t *CalibrationTable) Close() error { return t.file.Close() }
