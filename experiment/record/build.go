package record

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Build says which program this is.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"` // built from changed sources
	Go      string `json:"go"`
	System  string `json:"system"` // "linux/amd64"
}

// ReadBuild returns the build information that the Go tool put into the program.
func ReadBuild() Build {
	b := Build{Version: "(devel)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
	return b
}

// String is one line: version, commit, Go version and system.
func (b Build) String() string {
	commit := ""
	if b.Commit != "" {
		commit = ", commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Dirty {
			commit += " with changes"
		}
	}
	return fmt.Sprintf("%s%s (%s, %s)", b.Version, commit, b.Go, b.System)
}
