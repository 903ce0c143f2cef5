//go:build cuda

package driver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cacheHeader stands before a cached image, with the image's sha256 after it.
const cacheHeader = "kestrel cuda image 1\n"

// mostCached is how many bytes of images are kept: some dozens of kernel spaces.
const mostCached = 256 << 20

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
	now := time.Now()
	os.Chtimes(file, now, now) // the folder keeps what was used last
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
		return
	}
	trimCache(filepath.Dir(file), mostCached)
}

// trimCache removes files of the folder, those used longest ago first, until at
// most so many bytes are left; the one used last stays.
func trimCache(dir string, most int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	var total int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for len(files) > 1 && total > most {
		if os.Remove(filepath.Join(dir, files[0].Name())) == nil {
			total -= files[0].Size()
		}
		files = files[1:]
	}
}
