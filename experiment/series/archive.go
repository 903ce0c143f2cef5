package series

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
)

// An archive is the files of a directory, one behind the other: the length of a name as two
// bytes, little-endian, the name with slashes, the length of the file as eight bytes, what is in
// it; and a length of 0 at the end. It has no links, no modes and no holes, which those of tar may.

// mostFiles is more than the directory of a run has.
const mostFiles = 1000

var errNoRun = errors.New("what came of it is no run")

// Pack writes the files of the directory of a run as an archive. What makes it a run comes last, so
// that nothing that was cut while it was unpacked is taken for one.
func Pack(to io.Writer, dir string) error {
	d, err := inside.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	out := bufio.NewWriter(to)
	if err := pack(out, d, "."); err != nil {
		return err
	}
	if err := packFile(out, d, record.EventsFile); err != nil {
		return err
	}
	if _, err := out.Write([]byte{0, 0}); err != nil {
		return err
	}
	return out.Flush()
}

// pack writes what is in a folder, but for the log.
func pack(out io.Writer, d *inside.Dir, folder string) error {
	entries, err := d.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		switch {
		case e.IsDir():
			err = pack(out, d, name)
		case name != record.EventsFile:
			err = packFile(out, d, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func packFile(out io.Writer, d *inside.Dir, name string) error {
	f, err := d.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint16(nil, uint16(len(name)))
	head = binary.LittleEndian.AppendUint64(append(head, name...), uint64(info.Size()))
	if _, err := out.Write(head); err != nil {
		return err
	}
	_, err = io.CopyN(out, f, info.Size())
	return err
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
	folders := map[string]bool{".": true}
	err = entries(from, func(name string, in *io.LimitedReader) error {
		folder := path.Dir(name)
		if err := d.MkdirAll(folder); err != nil {
			return err
		}
		folders[folder] = true
		return unpack(in, d, name)
	})
	if err != nil {
		return err
	}
	for folder := range folders {
		if err := d.Sync(folder); err != nil {
			return err
		}
	}
	return nil
}

// entries takes the files of an archive, whose names lead nowhere but into a directory.
func entries(from io.Reader, take func(name string, in *io.LimitedReader) error) error {
	in := bufio.NewReader(from)
	var length [2]byte
	var size [8]byte
	for n := 0; ; n++ {
		if _, err := io.ReadFull(in, length[:]); err != nil {
			return torn(err)
		}
		name := make([]byte, binary.LittleEndian.Uint16(length[:]))
		if len(name) == 0 {
			_, err := io.Copy(io.Discard, in) // what hashes it does so at its end
			return err
		}
		if _, err := io.ReadFull(in, name); err != nil {
			return torn(err)
		}
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return torn(err)
		}
		if at := string(name); !filepath.IsLocal(at) || path.Clean(at) != at || at == "." || n == mostFiles {
			return fmt.Errorf("%w: %q in it", errNoRun, name)
		}
		file := &io.LimitedReader{R: in, N: int64(min(binary.LittleEndian.Uint64(size[:]), 1<<62))}
		if err := take(string(name), file); err != nil {
			return err
		}
		if file.N > 0 {
			return torn(io.ErrUnexpectedEOF)
		}
	}
}

// torn is the error of an archive that ends too early.
func torn(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it is torn", errNoRun)
	}
	return err
}

// unpack makes one file; the log at once, or not at all.
func unpack(in *io.LimitedReader, d *inside.Dir, name string) error {
	if name == record.EventsFile {
		return d.Replace(name, func(f inside.File) error {
			_, err := io.Copy(f, in)
			if err == nil && in.N > 0 {
				err = torn(io.ErrUnexpectedEOF)
			}
			return err
		})
	}
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
