package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.com/kestrel/datasets/elsewhere"
	"example.com/kestrel/datasets/sheets"
)

// workbookPrefix is how Swissgrid's files begin: EnergieUebersichtCH-2009.xls.
const workbookPrefix = "energieuebersichtch-"

// findWorkbooks returns the workbooks that a path stands for, and the path as
// found: files, folders and patterns, separated as in $PATH. It returns no
// files where the path is a single file that is no workbook.
func findWorkbooks(ctx context.Context, path string, dirs []string) (files []string, found string, err error) {
	parts := filepath.SplitList(path)
	if _, err := find(ctx, path, dirs); err == nil {
		parts = []string{path} // a separator may be part of the name
	}
	var names []string
	for _, part := range parts {
		at, list, err := workbooksOf(ctx, part, dirs)
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
func workbooksOf(ctx context.Context, path string, dirs []string) (found string, files []string, err error) {
	if path == "" {
		return "", nil, nil
	}
	found, err = resolve(path, dirs, func(c string) error {
		info, err := elsewhere.Stat(ctx, c)
		switch {
		case err == nil && info.IsDir():
			if files, err = filesIn(ctx, c, isSwissgridName); err == nil && len(files) == 0 {
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
		files, err = filesIn(ctx, filepath.Dir(c), func(name string) bool {
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
func filesIn(ctx context.Context, dir string, wanted func(string) bool) (files []string, err error) {
	for _, name := range elsewhere.Of(ctx, dir) {
		if wanted(name) {
			files = append(files, filepath.Join(dir, name))
		}
	}
	if elsewhere.Given(ctx) {
		return files, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() && wanted(e.Name()) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// workbookFormat returns the form of a workbook, whatever its file is
// called, or "" of anything else.
func workbookFormat(ctx context.Context, path string) (sheets.Format, error) {
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
	for _, is := range []sheets.Format{sheets.XLSX, sheets.XLS} {
		if strings.HasPrefix(string(b[:n]), string(is)) {
			return is, nil
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

// contextRows is how many rows are read between two looks at the context.
const contextRows = 1024

// readSheet reads a sheet of a workbook, .xls or .xlsx by its content, row by
// row. It returns the sha256 of the file. Errors are prefixed with the file's
// name, but for those of rows.
func readSheet(ctx context.Context, path, sheet string, rows sheets.Rows) (sum string, err error) {
	base := filepath.Base(path)
	f, err := open(ctx, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("%s: %w", base, err)
	}
	if info.Size() > sheets.Largest {
		return "", fmt.Errorf("%s: %w", base, sheets.ErrTooBig)
	}
	h := sha256.New()
	if _, err := io.Copy(h, newBesideReader(ctx, f)); err != nil {
		return "", fmt.Errorf("%s: %w", base, err)
	}
	format, err := workbookFormat(ctx, path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", base, err)
	}
	counted := 0
	var stopped error
	checked := func(row int, cells []sheets.Cell, date1904 bool) error {
		if counted++; counted%contextRows == 0 {
			stopped = ctx.Err()
		}
		if stopped == nil {
			stopped = rows(row, cells, date1904)
		}
		return stopped
	}
	err = sheets.Read(f, info.Size(), format, sheet, checked)
	switch {
	case stopped != nil:
		return "", stopped
	case err != nil:
		return "", fmt.Errorf("%s: %w", base, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sumOfSums is the hash that stands for several files: the sha256 of the lines
// "sha256  name", as sha256sum prints them.
func sumOfSums(paths, sums []string) string {
	if len(sums) == 1 {
		return sums[0]
	}
	h := sha256.New()
	for i := range sums {
		fmt.Fprintf(h, "%s  %s\n", sums[i], filepath.Base(paths[i]))
	}
	return hex.EncodeToString(h.Sum(nil))
}
