// Package history is what readers remember of a run, made from its events alone, live
// or from a log: History, bounded, with all series to be drawn; Summary, the last of
// everything; Follow, for a log that another process writes.
package history
