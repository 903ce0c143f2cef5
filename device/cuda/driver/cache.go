//go:build cuda

package driver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// cacheHeader stands before a cached image, with the image's sha256 after it.
const cacheHeader = "kestrel cuda image 1\n"

// cached is the file of a compiled source in the user's cache, "" where the
// user has none. A compiler that was named is not mistaken for another of the
// same version.
func cached(c *Compiler, target, source string, options []string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	key := strings.Join(append([]string{cacheHeader, os.Getenv(NVRTCVariable), c.Version(), target, source}, options...), "\x00")
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(dir, "kestrel", "cuda", hex.EncodeToString(sum[:]))
}

// readCache returns the image in a file; nil where there is none, or not whole.
func readCache(file string) []byte {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	text, ok := bytes.CutPrefix(text, []byte(cacheHeader))
	if !ok || len(text) <= sha256.Size {
		return nil
	}
	sum, image := text[:sha256.Size], text[sha256.Size:]
	if want := sha256.Sum256(image); !bytes.Equal(sum, want[:]) {
		return nil
	}
	return image
}

// writeCache keeps an image, whole or not at all. A cache that cannot be
// written is no failure: it only saves time.
func writeCache(file string, image []byte) {
	if file == "" || os.MkdirAll(filepath.Dir(file), 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(file), "new-")
	if err != nil {
		return
	}
	sum := sha256.Sum256(image)
	_, err = f.Write(bytes.Join([][]byte{[]byte(cacheHeader), sum[:], image}, nil))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}
