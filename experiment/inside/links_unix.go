//go:build unix

package inside

import (
	"io/fs"
	"os"
	"syscall"
)

// nonBlock keeps opening a pipe that came in the place of a file from waiting for
// somebody at its other end.
const nonBlock = syscall.O_NONBLOCK

// links is how many names a file has, 1 where that is not told.
func links(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// openLinks is links of an open file.
func openLinks(_ *os.File, info fs.FileInfo) uint64 { return links(info) }

// gone reports whether a directory has been removed.
func gone(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}
