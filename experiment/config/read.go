package config

import (
	"io"
	"io/fs"
	"os"
	"regexp"
)

// readHead reads a file, at most so many bytes of it.
func readHead(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// IsConfig tells a config from other TOML.
var IsConfig = regexp.MustCompile(`(?m)^\s*\[?(data|kernels|sparse|optimise|schedule|posterior|predict|device)(\]|\.)`)

// largestConfig is more than any config takes, in bytes.
const largestConfig = 1 << 20

// ReadConfig reads a file that may be a config: a regular one of the size of one.
func ReadConfig(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largestConfig {
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(path)
}
