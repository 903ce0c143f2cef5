//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package output

import (
	"errors"
	"os"
)

// descriptor finds none: they have no names here.
func descriptor(string, string) int { return -1 }

func openDescriptor(int) (*os.File, error) { return nil, errors.ErrUnsupported }
