package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The first bytes of a zip archive, such as an .xlsx, and of an OLE2 compound
// file, such as an .xls.
const (
	magicXLSX = "PK\x03\x04"
	magicXLS  = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
)

// workbookPrefix is how Swissgrid's files begin: EnergieUebersichtCH-2009.xls.
const workbookPrefix = "energieuebersichtch-"

// findWorkbooks returns the workbooks that a path stands for, and the path as
// found: files, folders and patterns, separated as in $PATH. It returns no
// files where the path is a single file that is no workbook.
func findWorkbooks(ctx context.Context, path string, dirs []string) (files []string, found string, err error) {
	parts := filepath.SplitList(path)
	if _, err := Resolve(path, dirs); err == nil {
		parts = []string{path} // a separator may be part of the name
	}
	var names []string
	for _, part := range parts {
		at, list, err := workbooksOf(part, dirs)
		if err != nil {
			return nil, "", err
		}
		names = append(names, at)
		files = append(files, list...)
	}
	if len(files) == 0 {
		return nil, "", fmt.Errorf("data file %q names nothing", path)
	}
	for _, f := range files {
		format, err := workbookFormat(ctx, f)
		if err != nil {
			return nil, "", err
		}
		if format != "" {
			continue
		}
		if len(files) == 1 {
			return nil, path, nil
		}
		return nil, "", fmt.Errorf("%s: is no workbook (.xls or .xlsx); only Swissgrid's workbooks can be joined", f)
	}
	if len(names) == 1 {
		return files, names[0], nil
	}
	for i, n := range names {
		if names[i], err = filepath.Abs(n); err != nil {
			return nil, "", err
		}
	}
	return files, strings.Join(names, string(os.PathListSeparator)), nil
}

// workbooksOf returns the files that one part of a path stands for: a file, the
// workbooks of Swissgrid in a folder, or the files that match a pattern, which
// may stand in the last element only.
func workbooksOf(path string, dirs []string) (found string, files []string, err error) {
	if path == "" {
		return "", nil, nil
	}
	found, err = resolve(path, dirs, func(c string) error {
		info, err := os.Stat(c)
		switch {
		case err == nil && info.IsDir():
			if files, err = filesIn(c, isSwissgridName); err == nil && len(files) == 0 {
				err = errors.New("is a folder without EnergieUebersichtCH-YYYY.xls or .xlsx")
			}
			return err
		case err == nil:
			files = []string{c}
			return nil
		case !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(filepath.Base(c), "*?["):
			return err
		}
		pattern := filepath.Base(c)
		if _, err := filepath.Match(pattern, ""); err != nil {
			return err
		}
		files, err = filesIn(filepath.Dir(c), func(name string) bool {
			ok, _ := filepath.Match(pattern, name)
			return ok && !strings.HasPrefix(name, "~$")
		})
		if err == nil && len(files) == 0 {
			err = fs.ErrNotExist
		}
		return err
	})
	return found, files, err
}

// isSwissgridName leaves out, too, the files that Excel keeps beside an open one.
func isSwissgridName(name string) bool {
	name = strings.ToLower(name)
	ext := filepath.Ext(name)
	return strings.HasPrefix(name, workbookPrefix) && (ext == ".xls" || ext == ".xlsx")
}

// filesIn lists the files of a folder whose names are wanted.
func filesIn(dir string, wanted func(string) bool) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && wanted(e.Name()) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// workbookFormat returns the magic number of a workbook, whatever its file is
// called, or "" of anything else.
func workbookFormat(ctx context.Context, path string) (string, error) {
	f, err := open(ctx, path)
	if err == errPipe {
		return "", fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b [8]byte
	n, err := io.ReadFull(newBesideReader(ctx, f), b[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", err
	}
	for _, magic := range []string{magicXLSX, magicXLS} {
		if strings.HasPrefix(string(b[:n]), magic) {
			return magic, nil
		}
	}
	return "", nil
}

// IsWorkbook reports whether a file is a workbook of a spreadsheet program, or
// another archive, whatever it is called.
func IsWorkbook(path string) bool {
	format, err := workbookFormat(context.Background(), path)
	return err == nil && format != ""
}
