package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// arrays compares those of checkpoints with those of a first one, byte for byte. Left out is
// what says where in its log a run was, and when.
func arrays(reference string, others []string) error {
	want, err := arraysOf(reference)
	if err != nil {
		return err
	}
	var wrong []error
	for _, name := range others {
		got, err := arraysOf(name)
		if err != nil {
			return err
		}
		for array, bits := range want {
			if !bytes.Equal(got[array], bits) {
				wrong = append(wrong, fmt.Errorf("%s: %s differs", name, array))
			}
		}
		if len(got) != len(want) {
			wrong = append(wrong, fmt.Errorf("%s: %d arrays, want %d", name, len(got), len(want)))
		}
	}
	return errors.Join(wrong...)
}

func arraysOf(path string) (map[string][]byte, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	out := map[string][]byte{}
	for _, f := range z.File {
		if f.Name == "sha256.npy" || f.Name == "log.npy" || f.Name == "schedule.npy" || strings.HasPrefix(f.Name, "log/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		if out[f.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}
