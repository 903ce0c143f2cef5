//go:build ignore

// Command samearrays compares the arrays of checkpoints with those of the first one, bit by
// bit, and names what differs. Left out is what says where in its log a run was, and when.
//
//	go run scripts/samearrays.go WANT.npz GOT.npz
package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	want := arrays(os.Args[1])
	bad := false
	for _, name := range os.Args[2:] {
		got := arrays(name)
		for array, bits := range want {
			if !bytes.Equal(got[array], bits) {
				fmt.Printf("%s: %s differs\n", name, array)
				bad = true
			}
		}
		if len(got) != len(want) {
			fmt.Printf("%s: %d arrays, want %d\n", name, len(got), len(want))
			bad = true
		}
	}
	if bad {
		os.Exit(1)
	}
}

func arrays(path string) map[string][]byte {
	z, err := zip.OpenReader(path)
	if err != nil {
		fail(err)
	}
	defer z.Close()
	out := map[string][]byte{}
	for _, f := range z.File {
		if f.Name == "sha256.npy" || f.Name == "log.npy" || f.Name == "schedule.npy" || strings.HasPrefix(f.Name, "log/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			fail(err)
		}
		if out[f.Name], err = io.ReadAll(r); err != nil {
			fail(err)
		}
	}
	return out
}

func fail(err error) {
	fmt.Println(err)
	os.Exit(2)
}
