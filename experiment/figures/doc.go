// Package figures draws the paper's figures from runs, repeats of runs and comparisons,
// and the charts of one run for the workbench and the report.
package figures
