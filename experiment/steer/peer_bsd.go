//go:build darwin || freebsd

package steer

import "golang.org/x/sys/unix"

// peerUser is the user of the process at the other end of a socket.
func peerUser(fd int) (int, error) {
	c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(c.Uid), nil
}
