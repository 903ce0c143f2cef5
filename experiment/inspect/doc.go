// Package inspect answers questions to a checkpoint, beside the run or long after it:
// fits, components, covariances, similarity, calibration, and predictions at the rows
// of a table. All answers are in the units of the data.
package inspect
