//go:build linux || darwin || freebsd

package steer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// longestPath of a socket, in bytes: 104 with the zero behind it on the BSDs and
// macOS, 108 on Linux.
const longestPath = 103

const (
	lockName = "lock" // held while sockets are made and removed
	suffix   = ".sock"
	lockTime = 2 * time.Second // that another's may take
)

// places are the private directories that sockets may be in, the best first. All are
// of this machine, as a rule: the run's own may be on a network file system, which
// holds no sockets, and its path is often too long.
func places() []string {
	own := "kestrel-" + strconv.Itoa(os.Getuid())
	var all []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		all = append(all, filepath.Join(dir, "kestrel"))
	}
	if dir := os.TempDir(); filepath.IsAbs(dir) && filepath.Clean(dir) != "/tmp" {
		all = append(all, filepath.Join(dir, own))
	}
	return append(all, filepath.Join("/tmp", own))
}

// listen makes a socket in the first place that can have one.
func listen() (*net.UnixListener, error) {
	var all []string
	for _, dir := range places() {
		at, err := listenIn(dir)
		if err == nil {
			return at, nil
		}
		all = append(all, plain(err).Error())
	}
	return nil, fmt.Errorf("no place for its socket: %s", strings.Join(all, "; "))
}

func listenIn(dir string) (*net.UnixListener, error) {
	var random [4]byte
	_, _ = rand.Read(random[:]) // it never fails
	path := filepath.Join(dir, fmt.Sprintf("%s-%d-%s%s", machine(), os.Getpid(), hex.EncodeToString(random[:]), suffix))
	if len(path) > longestPath {
		return nil, fmt.Errorf("%q is too long for a socket's name", dir)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, lockName), flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, lockTime/100); err != nil {
		return nil, fmt.Errorf("%q cannot be locked: %w", dir, err)
	}
	defer lock.Close()
	sweep(dir)
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}

// machine stands for this machine in the names of sockets, so that nobody takes
// another's for those of killed processes where machines share a directory.
func machine() string {
	name, err := os.Hostname()
	if err != nil {
		name = ""
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprintf("%08x", h.Sum32())
}

// sweep removes the sockets that killed processes have left. Who makes one holds the
// lock until it listens.
func sweep(dir string) {
	left, err := filepath.Glob(filepath.Join(dir, machine()+"-*"+suffix))
	if err != nil {
		return
	}
	for _, path := range left {
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Type() != fs.ModeSocket {
			continue
		}
		c, err := net.DialTimeout("unix", path, time.Second)
		switch {
		case err == nil:
			c.Close()
		case errors.Is(err, syscall.ECONNREFUSED):
			_ = os.Remove(path) // it does no harm
		}
	}
}

// private refuses a directory that others can write to or reach into.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	at, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%q is no directory", dir)
	case !ok || int(at.Uid) != os.Getuid():
		return fmt.Errorf("%q belongs to another user", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others may enter %q; chmod 700 closes it", dir)
	}
	return nil
}

// ours refuses a socket that is not in a private directory of this user, or has not the
// name of one of kestrel's.
func ours(path string) error {
	name := filepath.Base(path)
	if !filepath.IsAbs(path) || !strings.HasSuffix(name, suffix) {
		return fmt.Errorf("%.200q is no name of a run's socket", path)
	}
	return private(filepath.Dir(path))
}

// checkPeer refuses whoever is not this user.
func checkPeer(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	user, failed := 0, error(nil)
	if err := raw.Control(func(fd uintptr) { user, failed = peerUser(int(fd)) }); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if user != os.Getuid() {
		return fmt.Errorf("user %d is at the other end of the socket", user)
	}
	return nil
}
