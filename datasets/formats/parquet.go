//go:build parquet

package formats

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetRows is how many rows are taken at a time.
const parquetRows = 256

// Parquet reads a file of plain columns: numbers, texts, truth values, dates and
// instants; null is a missing value.
func Parquet(file io.ReaderAt, size int64) (Rows, error) {
	f, err := parquet.OpenFile(file, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, fmt.Errorf("cannot be read as Parquet: %w", err)
	}
	fields := f.Schema().Fields()
	names := make([]string, len(fields))
	cells := make([]func(parquet.Value) (string, error), len(fields))
	for i, field := range fields {
		names[i] = field.Name()
		if !field.Leaf() || field.Repeated() {
			return nil, fmt.Errorf("column %.100q is a list or a record, not a column of values", field.Name())
		}
		cells[i] = parquetCell(field.Type())
	}
	groups := f.RowGroups()
	var rows parquet.Rows
	var buf [parquetRows]parquet.Row
	waiting, line := []parquet.Row{}, 0
	named := false
	return func() ([]string, error) {
		if !named {
			named = true
			return names, nil
		}
		for len(waiting) == 0 {
			if rows == nil {
				if len(groups) == 0 {
					return nil, io.EOF
				}
				rows, groups = groups[0].Rows(), groups[1:]
			}
			n, err := rows.ReadRows(buf[:])
			waiting = buf[:n]
			if errors.Is(err, io.EOF) {
				err = rows.Close()
				rows = nil
			}
			if err != nil {
				return nil, fmt.Errorf("after row %d: %w", line, err)
			}
		}
		row := make([]string, len(names))
		line++
		for _, v := range waiting[0] {
			i := v.Column()
			if v.IsNull() || i < 0 || i >= len(row) {
				continue
			}
			var err error
			if row[i], err = cells[i](v); err != nil {
				return nil, fmt.Errorf("row %d: column %.100q: %w", line, names[i], err)
			}
		}
		waiting = waiting[1:]
		return row, nil
	}, nil
}

// parquetCell is how values of a type are written.
func parquetCell(t parquet.Type) func(parquet.Value) (string, error) {
	if logical := t.LogicalType(); logical != nil {
		switch of := logical.Value.(type) {
		case *format.TimestampType:
			return instants(of)
		case *format.DateType:
			return func(v parquet.Value) (string, error) {
				return time.Unix(int64(v.Int32())*86400, 0).UTC().Format(time.DateOnly), nil
			}
		case *format.DecimalType:
			return decimals(int(of.Scale))
		case *format.IntType:
			if !of.IsSigned {
				return func(v parquet.Value) (string, error) {
					if v.Kind() == parquet.Int32 {
						return strconv.FormatUint(uint64(uint32(v.Int32())), 10), nil
					}
					return strconv.FormatUint(uint64(v.Int64()), 10), nil
				}
			}
		}
	}
	return func(v parquet.Value) (string, error) {
		switch v.Kind() {
		case parquet.Boolean:
			return strconv.FormatBool(v.Boolean()), nil
		case parquet.Int32:
			return strconv.Itoa(int(v.Int32())), nil
		case parquet.Int64:
			return strconv.FormatInt(v.Int64(), 10), nil
		case parquet.Float:
			return number(float64(v.Float())), nil
		case parquet.Double:
			return number(v.Double()), nil
		case parquet.ByteArray, parquet.FixedLenByteArray:
			return string(v.ByteArray()), nil
		case parquet.Int96: // nanoseconds of a day, and a Julian day
			n := v.Int96()
			day := int64(n[2]) - 2440588
			nanos := int64(n[0]) | int64(n[1])<<32
			return time.Unix(day*86400, nanos).UTC().Format("2006-01-02T15:04:05.999999999"), nil
		}
		return "", fmt.Errorf("values of kind %v are not read", v.Kind())
	}
}

// instants writes time stamps, with a Z where they are UTC.
func instants(of *format.TimestampType) func(parquet.Value) (string, error) {
	zone := ""
	if of.IsAdjustedToUTC {
		zone = "Z"
	}
	return func(v parquet.Value) (string, error) {
		var at time.Time
		switch n := v.Int64(); of.Unit.Value.(type) {
		case *format.MilliSeconds:
			at = time.UnixMilli(n)
		case *format.MicroSeconds:
			at = time.UnixMicro(n)
		case *format.NanoSeconds:
			at = time.Unix(0, n)
		default:
			return "", fmt.Errorf("its time stamps have the unknown unit %v", &of.Unit)
		}
		return at.UTC().Format("2006-01-02T15:04:05.999999999") + zone, nil
	}
}

// decimals writes whole numbers of so many digits behind the point.
func decimals(scale int) func(parquet.Value) (string, error) {
	return func(v parquet.Value) (string, error) {
		n := new(big.Int)
		switch v.Kind() {
		case parquet.Int32:
			n.SetInt64(int64(v.Int32()))
		case parquet.Int64:
			n.SetInt64(v.Int64())
		default:
			b := v.ByteArray()
			if n.SetBytes(b); len(b) > 0 && b[0]&0x80 != 0 { // two's complement
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
		}
		return fmt.Sprintf("%de-%d", n, scale), nil
	}
}
