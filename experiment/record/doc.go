// Package record has what is written down of a run: the events, one a line in the
// event log, and Standing, the one place where it is decided what an event changes.
// It knows how to append to a log and to read one that is finished, torn or still
// growing.
package record
