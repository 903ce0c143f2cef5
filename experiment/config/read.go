package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"kestrel/experiment/inside"
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

// LoadInside reads the config that a run or a comparison keeps in its directory, as
// Load does.
func LoadInside(dir, name string) (Config, error) {
	text, err := inside.ReadFile(dir, name, largestConfig)
	var refused *inside.Refused
	switch path := filepath.Join(dir, name); {
	case errors.As(err, &refused):
		return Config{}, err
	case errors.Is(err, fs.ErrNotExist):
		return Config{}, fmt.Errorf("config %q: no such file", path)
	case err != nil:
		return Config{}, fmt.Errorf("config %q cannot be read: %w", path, err)
	default:
		return read(text, path, nil)
	}
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
