// Package rundir has the directory of a run: the files that grow with its events, the
// checkpoint and the place in the log that it rests on, who writes it, and what
// happens when the disk is full. Fate is how a run stands in one word.
package rundir
