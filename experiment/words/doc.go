// Package words writes numbers of things, lengths of time and text from outside for
// people, in one line and without anything that steers a terminal.
package words
