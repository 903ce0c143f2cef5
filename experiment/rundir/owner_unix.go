//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rundir

import "syscall"

// noFollow makes opening a link an error, and does not wait at a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lockFile is the file that is locked: the note itself, since the locks here are
// advisory, but on SMB, see Claim.
func lockFile(note string) string { return note }
