package series

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"

	"example.com/kestrel/experiment/inside"
)

// mostFiles is more than the directory of a run has.
const mostFiles = 1000

var errNoRun = errors.New("what came of it is no run")

// Pack writes the files of a directory as an archive.
func Pack(to io.Writer, dir string) error {
	d, err := inside.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	out := tar.NewWriter(to)
	if err := pack(out, d, "."); err != nil {
		return err
	}
	return out.Close()
}

// pack writes what is in a folder.
func pack(out *tar.Writer, d *inside.Dir, folder string) error {
	entries, err := d.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if e.IsDir() {
			if err := pack(out, d, name); err != nil {
				return err
			}
			continue
		}
		f, err := d.Open(name)
		if err != nil {
			return err
		}
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil {
			err = out.WriteHeader(&tar.Header{Name: name, Size: info.Size(), Mode: 0o644, Format: tar.FormatPAX})
		}
		if err == nil {
			_, err = io.Copy(out, f)
		}
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Unpack makes a directory of an archive, of which nothing is believed: it holds files only, in
// folders of the directory, each once. They are on the disk when it returns.
func Unpack(from io.Reader, disk inside.Disk, dir string) error {
	if err := disk.MkdirAll(dir); err != nil {
		return err
	}
	d, err := disk.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	in := tar.NewReader(from)
	folders := map[string]bool{".": true}
	for n := 0; ; n++ {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		switch {
		case err != nil:
			return err
		case h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) || path.Clean(h.Name) != h.Name || n == mostFiles:
			return fmt.Errorf("%w: %q in it", errNoRun, h.Name)
		}
		folder := path.Dir(h.Name)
		if err := d.MkdirAll(folder); err != nil {
			return err
		}
		folders[folder] = true
		if err := unpack(in, d, h.Name); err != nil {
			return err
		}
	}
	for folder := range folders {
		if err := d.Sync(folder); err != nil {
			return err
		}
	}
	_, err = io.Copy(io.Discard, from) // what hashes it does so at its end
	return err
}

// unpack makes one file.
func unpack(in io.Reader, d *inside.Dir, name string) error {
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
