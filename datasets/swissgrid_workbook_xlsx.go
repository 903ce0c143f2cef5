package datasets

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/xuri/excelize/v2"
)

// Bounds of what is unpacked of an .xlsx, in bytes: in all, and of a part. Sheets
// and shared strings beyond the latter go to temporary files; of other parts,
// all of which are held in memory, none of Swissgrid's comes near it. The sheets
// of a year with 65 columns take some 200 MB.
const (
	largestUnzipped     = 1 << 30
	largestUnzippedPart = 16 << 20
)

// checkParts refuses archives of which more than that would be unpacked. The
// sizes are those stated; zip's reader gives no part more than it states.
func checkParts(f io.ReaderAt, size int64) error {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return err
	}
	total := uint64(0)
	for _, p := range z.File {
		name := strings.ToLower(p.Name)
		inFile := strings.HasPrefix(name, "xl/worksheets/sheet") || name == "xl/sharedstrings.xml"
		if total += min(p.UncompressedSize64, largestUnzipped+1); total > largestUnzipped ||
			!inFile && p.UncompressedSize64 > largestUnzippedPart {
			return errors.New("unpacks to more than is read of a workbook; it may be damaged")
		}
	}
	return nil
}

// readXLSX reads a sheet of an Office Open XML workbook (ECMA-376).
func readXLSX(f io.ReaderAt, size int64, sheet string, rows sheetRows) (err error) {
	// A folder of its own: of a file that is refused half-way, excelize leaves
	// what it has unpacked.
	temp, err := os.MkdirTemp("", "kestrel-xlsx-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	var book *excelize.File
	if err := guarded(func() (err error) {
		if err := checkParts(f, size); err != nil {
			return err
		}
		book, err = excelize.OpenReader(io.NewSectionReader(f, 0, size), excelize.Options{
			RawCellValue: true, TmpDir: temp, UnzipSizeLimit: largestUnzipped, UnzipXMLSizeLimit: largestUnzippedPart,
		})
		return err
	}); err != nil {
		return fmt.Errorf("cannot be read as .xlsx: %w", err)
	}
	defer func() {
		if e := book.Close(); err == nil {
			err = e
		}
	}()
	var it *excelize.Rows
	date1904 := false
	if err := guarded(func() error {
		name := ""
		sheets := book.GetSheetList()
		for _, s := range sheets {
			if strings.EqualFold(s, sheet) {
				name = s
			}
		}
		if name == "" {
			return missingSheet(sheet, sheets)
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
	var cells []sheetCell
	for row := 1; ; row++ {
		var texts []string
		err := guarded(func() (err error) {
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
			c := sheetCell{column: i, kind: kindText, text: text}
			// Only cells of numbers hold what reads as one.
			if v, err := parseNumber([]byte(text)); err == nil && errNumber(v) == nil {
				c.kind, c.number = kindNumber, v
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
