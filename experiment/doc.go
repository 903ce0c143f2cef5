// Package experiment is the writer: a run is one goroutine that owns a trainer,
// takes orders and records what happens. Session begins and closes a run with its
// directory; Resume takes up one that was cut off or stopped. Who only reads runs
// needs the packages below: record, rundir and history.
package experiment
