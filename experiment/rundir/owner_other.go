//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package rundir

// noFollow is no flag of opening here; Claim asks before.
const noFollow = 0

// lockFile is the file that is locked, one beside the note: what another process
// has locked cannot be read on Windows.
func lockFile(note string) string { return note + ".lock" }
