package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"example.com/kestrel/experiment/inside"
)

// pipePatience is how long a pipe or a terminal may take to say what it has.
const pipePatience = 10 * time.Second

// readHead reads a file, at most so many bytes of it. One that is a pipe, as a shell
// makes it of <(…), is read until its other end is closed, and not waited for for
// ever.
func readHead(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	flag := os.O_RDONLY
	if !info.Mode().IsRegular() {
		flag |= nonBlock
	}
	f, err := os.OpenFile(name, flag, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Mode().IsRegular() || info.IsDir() {
		return io.ReadAll(io.LimitReader(f, most))
	}
	_ = f.SetReadDeadline(time.Now().Add(pipePatience)) // a device that has none does not wait
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err == nil && len(text) == 0 {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("it is no file, and nothing comes from it; name a TOML file or a table")}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it is no file, and does not end within %s; name a TOML file", pipePatience)}
	}
	return text, err
}

// LoadInside reads the config that a run or a comparison keeps in its directory, as
// Load does; keys that older versions did not write are as these had it.
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
		return kept(named(path)).Read(text, filepath.Base(path), nil)
	}
}

// OfRun reads the config that a run has in its log; name is of that.
func OfRun(text, name string) (Config, error) { return kept(Default()).Read([]byte(text), name, nil) }

// kept are the defaults of configs that runs keep: of keys that older versions did not
// write as these had them.
func kept(c Config) Config {
	c.Data.Transform, c.Settings.PredictTheta = "", ""
	c.Data.Cycle, c.Data.Calendar = 0, nil
	c.Settings.Bound, c.Settings.Evidence, c.Settings.AllRows = "elbo", "mode", 0
	c.Settings.Growth.Stated, c.Settings.Growth.Rows = 0, 0
	c.Settings.Own, c.Settings.Local, c.Settings.Windows = "off", "none", false
	return c
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
