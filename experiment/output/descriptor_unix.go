//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package output

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// descriptor returns the number of this process's descriptor that a name in a
// folder stands for, -1 if it does not. Opened by its name, a file would be written
// from its beginning, whatever stands in it.
func descriptor(dir, name string) int {
	if self, err := os.Readlink("/proc/self"); dir != "/dev/fd" && (err != nil || dir != fmt.Sprintf("/proc/%s/fd", self)) {
		return -1
	}
	n, err := strconv.Atoi(name)
	if err != nil {
		return -1
	}
	return n
}

// openDescriptor opens a descriptor a second time, at the same place.
func openDescriptor(n int) (*os.File, error) {
	d, err := syscall.Dup(n)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(d)
	return os.NewFile(uintptr(d), strconv.Itoa(n)), nil
}
