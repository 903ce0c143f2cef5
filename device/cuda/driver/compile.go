//go:build cuda

package driver

import (
	"errors"
	"fmt"
)

// Compiler finds the compiler that suits the driver. The error wraps
// ErrNoCompiler where there is none.
func (d *Driver) Compiler() (*Compiler, error) { return OpenCompiler(d.version / 1000) }

// Compile compiles CUDA C for the card and places it there; name stands in
// messages, options are the compiler's. What was compiled before, by whatever
// program run, is taken from the user's cache (kestrel/cuda in it). The error
// wraps ErrNoCompiler where there is no compiler, and holds its log where it
// refuses. Several goroutines may call Compile at once.
func (c *Card) Compile(name, source string, options ...string) (Module, error) {
	compiler, err := c.driver.Compiler()
	if err != nil {
		return Module{}, err
	}
	target := compiler.Target(c.info.Arch())
	file := cached(compiler, target, source, options)
	if image := readCache(file); image != nil {
		m, err := c.load(name, image)
		if err == nil || errors.Is(err, ErrLost) || errors.Is(err, ErrOutOfMemory) {
			return m, err
		}
		// Made for another driver, perhaps; it is compiled anew.
	}
	image, err := compiler.Compile(name, source, target, options...)
	if err != nil {
		return Module{}, err
	}
	m, err := c.load(name, image.Code)
	if err != nil {
		if compiler.major > c.driver.version/1000 {
			err = fmt.Errorf("%w; libnvrtc %s is newer than the driver, which is for CUDA %s", err, compiler.Version(), c.driver.Version())
		}
		return Module{}, err
	}
	writeCache(file, image.Code)
	return m, nil
}
