//go:build unix

package config

import "syscall"

// nonBlock keeps opening a pipe from waiting for its other end.
const nonBlock = syscall.O_NONBLOCK
