package cluster

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"example.com/kestrel/device"
)

// ofCPU is the kind of the device that every machine has.
const ofCPU = "cpu"

// Class is what machines must have in common for units to come out the same on all of
// them, bit by bit.
type Class struct {
	Protocol   uint64
	Build      string // of the program
	Kind       string // of the device
	Arithmetic string // that it computes with
}

// ClassOf is that of this program on a device.
func ClassOf(info device.Info) (Class, error) {
	build, err := build()
	return Class{Protocol(), build, info.Kind, runtime.GOARCH + " " + info.Arithmetic}, err
}

// build names the program: by its commit, or the hash of its file where that is not known.
func build() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		set := map[string]string{}
		for _, s := range info.Settings {
			set[s.Key] = s.Value
		}
		if rev := set["vcs.revision"]; rev != "" && set["vcs.modified"] == "false" {
			return fmt.Sprintf("commit %s, %s, tags %q", rev, info.GoVersion, set["-tags"]), nil
		}
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("file %x", h.Sum(nil)[:8]), nil
}

// refuses says why a worker of another class cannot take part, and what to do; "" if it can.
func (c Class) refuses(w Class) string {
	switch {
	case w.Protocol != c.Protocol:
		return "it is of another version of kestrel, with other messages: start the version that the run has"
	case w.Build != c.Build:
		return fmt.Sprintf("it is another build of kestrel (%s, the run's is %s): copy the run's binary there", w.Build, c.Build)
	case w.Kind != c.Kind:
		return fmt.Sprintf("it computes on the device %s, the run on %s, and results would depend on who computes: start it with --device %s",
			w.Kind, c.Kind, c.Kind)
	case w.Arithmetic != c.Arithmetic:
		todo := "start all with KESTREL_SIMD set to what all of them have"
		if c.Kind != ofCPU {
			todo = "take cards and libraries that are alike, see kestrel devices"
		}
		return fmt.Sprintf("it computes with %s, the run with %s, and results would depend on who computes: %s", w.Arithmetic, c.Arithmetic, todo)
	}
	return ""
}
