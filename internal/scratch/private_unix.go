//go:build unix

package scratch

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether a file is this user's, and nobody else may do anything with it.
func private(info fs.FileInfo) bool {
	at, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(at.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
