package sheets

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/xuri/excelize/v2"

	"example.com/kestrel/datasets/quote"
	"example.com/kestrel/internal/scratch"
)

// Bounds of what is unpacked of an .xlsx, in bytes: in all, of a part, and of all
// parts that are held in memory. Sheets and shared strings beyond the second go
// to temporary files; of other parts none of Swissgrid's comes near it. The
// sheets of a year with 65 columns take some 200 MB.
const (
	largestUnzipped     = 1 << 30
	largestUnzippedPart = 16 << 20
	largestInMemory     = 256 << 20
)

var errUnpacks = errors.New("unpacks to more than is read of a workbook; it may be damaged")

// checkParts refuses archives of which more than that would be unpacked. The
// sizes are those stated; zip's reader gives no part more than it states.
func checkParts(f io.ReaderAt, size int64) error {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return err
	}
	var total, inMemory uint64
	for _, p := range z.File {
		name := strings.ToLower(strings.ReplaceAll(p.Name, "\\", "/")) // as excelize takes it
		inFile := strings.HasPrefix(name, "xl/worksheets/sheet") || name == "xl/sharedstrings.xml"
		stated := min(p.UncompressedSize64, largestUnzipped+1)
		if stated <= largestUnzippedPart {
			inMemory += stated
		} else if !inFile {
			return errUnpacks
		}
		if total += stated; total > largestUnzipped || inMemory > largestInMemory {
			return errUnpacks
		}
	}
	// excelize makes room in memory for all that a part states, also where it
	// finds then that it does not unpack.
	for _, p := range z.File {
		if err := checkPart(p); err != nil {
			return fmt.Errorf("part %s: %w", quote.Text(p.Name), err)
		}
	}
	return nil
}

// checkPart reads a part to its end, which finds a size or a checksum that is
// not as stated.
func checkPart(p *zip.File) error {
	if p.FileInfo().IsDir() && p.UncompressedSize64 > 0 {
		return errUnpacks
	}
	r, err := p.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}

// OpenXLSX opens an Office Open XML workbook; done closes it.
func OpenXLSX(f io.ReaderAt, size int64) (book *excelize.File, done func() error, err error) {
	// A folder of its own: of a file that is refused half-way, excelize leaves
	// what it has unpacked.
	temp, err := scratch.Make("xlsx")
	if err != nil {
		return nil, nil, err
	}
	if err := Guarded(func() (err error) {
		if err := checkParts(f, size); err != nil {
			return err
		}
		book, err = excelize.OpenReader(io.NewSectionReader(f, 0, size), excelize.Options{
			RawCellValue: true, TmpDir: temp.Path, UnzipSizeLimit: largestUnzipped, UnzipXMLSizeLimit: largestUnzippedPart,
		})
		return err
	}); err != nil {
		temp.Remove()
		return nil, nil, fmt.Errorf("cannot be read as .xlsx: %w", err)
	}
	return book, func() error {
		defer temp.Remove()
		return book.Close()
	}, nil
}

// readXLSX reads a sheet of an Office Open XML workbook (ECMA-376).
func readXLSX(f io.ReaderAt, size int64, sheet string, rows Rows) (err error) {
	book, done, err := OpenXLSX(f, size)
	if err != nil {
		return err
	}
	defer func() {
		if e := done(); err == nil {
			err = e
		}
	}()
	var it *excelize.Rows
	date1904 := false
	if err := Guarded(func() error {
		name := ""
		sheets := book.GetSheetList()
		for _, s := range sheets {
			if strings.EqualFold(s, sheet) {
				name = s
			}
		}
		if name == "" {
			return Missing(sheet, sheets)
		}
		props, err := book.GetWorkbookProps()
		if err != nil {
			return err
		}
		date1904 = props.Date1904 != nil && *props.Date1904
		it, err = book.Rows(name)
		return err
	}); err != nil {
		return err
	}
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	// Damage to the archive has been found by its checksums. XML that is not well
	// formed ends the rows without an error: then the file does not reach the
	// end of its year, and a notice says so.
	var cells []Cell
	for row := 1; ; row++ {
		var texts []string
		err := Guarded(func() (err error) {
			if !it.Next() {
				if err := it.Error(); err != nil {
					return err
				}
				return io.EOF
			}
			texts, err = it.Columns()
			return err
		})
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
		cells = cells[:0]
		for i, text := range texts {
			if text == "" {
				continue
			}
			c := Cell{Column: i, IsText: true, Text: text}
			// Only cells of numbers hold what reads as one.
			if v, ok := asNumber(text); ok {
				c = Cell{Column: i, Number: v}
			}
			cells = append(cells, c)
		}
		if len(cells) > 0 {
			if err := rows(row, cells, date1904); err != nil {
				return err
			}
		}
	}
}
