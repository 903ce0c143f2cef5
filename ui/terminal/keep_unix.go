//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Keep returns a function that leaves the terminal as it should be: a
// program that was killed may have left it without echo and lines before this
// one began.
func Keep() func() {
	fd := int(os.Stdin.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil || before.Lflag&unix.ICANON != 0 && before.Lflag&unix.ECHO != 0 {
		return func() {}
	}
	sane := *before
	sane.Iflag |= unix.ICRNL | unix.IXON
	sane.Oflag |= unix.OPOST | unix.ONLCR
	sane.Lflag |= unix.ICANON | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ISIG | unix.IEXTEN
	return func() {
		_ = unix.IoctlSetTermios(fd, setTermios, &sane) // nothing more could be done
	}
}
