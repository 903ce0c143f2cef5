package datasets

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"math/big"
	"slices"
	"strconv"
)

// largestExact is the number up to which a float64 holds all whole numbers.
const largestExact = 1 << 53

// largeNumber is a whole number of at least largestExact.
type largeNumber struct {
	value float64
	key   uint64 // tells those of one value apart
}

// large notes a whole number, read as v, that a float64 may not hold.
func (col *tableColumn) large(text []byte, v float64, c *cells) {
	b := bytes.TrimSpace(text)
	if !isWhole(b) {
		b = c.plain(b, c.buf[:]) // what divides thousands is left out
		if i := bytes.IndexByte(b, '.'); i > 0 && len(bytes.Trim(b[i+1:], "0")) == 0 {
			b = b[:i]
		}
		if !isWhole(b) {
			return
		}
	}
	if i, err := strconv.ParseInt(string(b), 10, 64); err == nil && i > -1<<62 && i < 1<<62 {
		if int64(v) != i {
			col.rounded++
		}
		col.larges = append(col.larges, largeNumber{v, uint64(i)})
		return
	}
	var exact big.Int
	if _, ok := exact.SetString(string(b), 10); !ok {
		return
	}
	if new(big.Float).SetInt(&exact).Cmp(big.NewFloat(v)) != 0 {
		col.rounded++
	}
	sum := fnv.New64a()
	sum.Write(exact.Bytes())
	col.larges = append(col.larges, largeNumber{v, sum.Sum64()})
}

// isWhole reports whether a text is a whole number.
func isWhole(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// checkLarge refuses a column of which different whole numbers have become equal.
func (col *tableColumn) checkLarge(file, advice string) error {
	if col.rounded == 0 {
		return nil
	}
	slices.SortFunc(col.larges, func(a, b largeNumber) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.key, b.key))
	})
	numbers := slices.Compact(col.larges)
	different := len(numbers)
	values := len(slices.CompactFunc(numbers, func(a, b largeNumber) bool { return a.value == b.value }))
	col.larges = nil
	if values == different {
		return nil
	}
	return fmt.Errorf("%s: column %d (%s): values beyond 2^53 differ by less than a 64-bit floating-point number holds: "+
		"of %d, %d would be left; subtract a constant first%s", file, col.number, quoteText(col.name), different, values, advice)
}
