//go:build cuda

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/source"
)

// writeImages compiles the library for the cards that images are kept for.
func writeImages(dir string) error {
	c, err := driver.OpenCompiler(12)
	if err != nil {
		return err
	}
	for _, arch := range source.ImageArchs {
		image, err := c.Compile("kestrel.cu", source.Library(), fmt.Sprintf("compute_%d", arch), source.Options...)
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := w.Write(append([]byte(source.ImageMark()), image.Code...)); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		file := filepath.Join(dir, source.ImageName(arch))
		if err := os.WriteFile(file, packed.Bytes(), 0o644); err != nil {
			return fmt.Errorf("writing an image: %w; run this in the repository's root", err)
		}
		fmt.Printf("%s: %d KiB, libnvrtc %s\n", file, packed.Len()>>10, c.Version())
	}
	return nil
}
