//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package files

import (
	"os"
	"runtime"
)

// placedOpen: what is open cannot be renamed on Windows.
const placedOpen = false

func lockAside(*os.File) bool { return true }

// removeAbandoned removes an aside that nobody writes: what is open cannot be
// removed on Windows.
func removeAbandoned(path string) {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || longAgo(info)) {
		os.Remove(path)
	}
}
