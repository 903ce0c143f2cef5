package files

import "path/filepath"

// Absolute returns the absolute form of a path, or the path if there is none.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
