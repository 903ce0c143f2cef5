// Package series makes several things in one directory, each once: the runs of a
// comparison, repeats of a run, the tables of a study. Given the same task again it
// goes on where it was cut; another task is refused.
package series
