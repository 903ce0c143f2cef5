// Package steer lets other processes of the same user on the same machine give a
// run its orders, over a Unix socket whose name stands in the owner's note of the
// run. docs/format.md has what is said over it.
package steer
