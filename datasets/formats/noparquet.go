//go:build !parquet

package formats

import (
	"errors"
	"io"
)

// Parquet is not in this build.
func Parquet(io.ReaderAt, int64) (Rows, error) {
	return nil, errors.New("is a Parquet file, which this build of the program does not read (go build -tags parquet does); " +
		"save it as CSV, JSON lines or .xlsx")
}
