package datasets

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
)

// kind is what the values of a column are.
type kind uint8

const (
	kindUnknown kind = iota // only missing values so far
	kindNumber
	kindTime
	kindText
)

// cells reads single values.
type cells struct {
	writing
	strict  bool      // a text that would be a number with another decimal sign is an error, no text
	buf     [64]byte  // of a number rewritten
	listed  [][]byte  // what stands for missing values, as the user has it
	missing [][]byte  // those of it that are texts
	codes   []float64 // those that are numbers, e.g. -999
}

func newCells(missing []string) *cells {
	c := &cells{}
	for _, m := range missing {
		b := bytes.TrimSpace([]byte(m))
		c.listed = append(c.listed, b)
		if v, err := parseNumber(b); err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
			c.codes = append(c.codes, v)
		} else if len(b) > 0 {
			c.missing = append(c.missing, b)
		}
	}
	return c
}

// code takes what the user lists, too, as the table would have it written: -999,9
// where commas are decimal signs.
func (c *cells) code() {
	for _, b := range c.listed {
		if v, err := c.parse(b); err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) && !slices.Contains(c.codes, v) {
			c.codes = append(c.codes, v)
		}
	}
}

// isMissing reports whether a trimmed text, not a number, stands for a missing
// value.
func (c *cells) isMissing(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	for _, m := range c.missing {
		if len(m) == len(b) && bytes.EqualFold(m, b) {
			return true
		}
	}
	return false
}

var (
	errNotNumber  = errors.New("is not a number")
	errNotFinite  = errors.New("is not a finite number; list it under missing to drop such rows")
	errTooLarge   = errors.New("is too large for a 64-bit number")
	errTooFar     = errors.New("is too large: its square cannot be summed in 64-bit numbers; change the unit or list it under missing")
	errNotTime    = errors.New("is not a time stamp")
	errNotEither  = errors.New("is neither a number nor a time stamp")
	errNotDecimal = errors.New("is not a number; decimals are written with a point, or set decimal = \",\"")
	errNotComma   = errors.New("is not a number; decimals are written with a comma here, or set decimal = \".\"")
	errEither     = errors.New("is a number with decimals or with thousands; set decimal = \",\" or decimal = \".\"")
	errDayMonth   = errors.New("does not tell day from month, and no date in the first rows does; write 2024-01-31")
)

// largest is the largest magnitude of a value: squares of as many values as
// there can be rows still add up to a finite sum.
const largest = 1e140

// number reads a number; NaN means a missing value.
func (c *cells) number(b []byte) (float64, error) {
	v, err := c.parse(b)
	if err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		for _, m := range c.codes {
			if v == m {
				return math.NaN(), nil
			}
		}
		if math.Abs(v) > largest {
			return 0, errTooFar
		}
		return v, nil
	}
	b = bytes.TrimSpace(b)
	switch {
	case c.isMissing(b):
		return math.NaN(), nil
	case err == nil:
		return 0, errNotFinite
	case errors.Is(err, strconv.ErrRange):
		return 0, errTooLarge
	}
	return 0, c.whyNot(b)
}

// parse reads a number as c's are written, or an infinity or NaN.
func (c *cells) parse(b []byte) (float64, error) {
	var v float64
	err := errNotNumber
	if c.decimal != ',' || bytes.IndexByte(b, ',') < 0 && bytes.IndexByte(b, '.') < 0 {
		v, err = parseNumber(b)
	}
	if err != nil && len(b) > 0 {
		if plain := c.plain(b, c.buf[:]); plain != nil {
			return parseNumber(plain)
		}
	}
	return v, err
}

// parseNumber reads a decimal number with spaces around it, or an infinity or
// NaN.
func parseNumber(b []byte) (float64, error) {
	if n := len(b); n == 0 || b[0] <= ' ' || b[n-1] <= ' ' {
		if b = bytes.TrimSpace(b); len(b) == 0 {
			return 0, errNotNumber
		}
	}
	// strconv would also take hexadecimal numbers, which no table means.
	if len(b) > 1 && bytes.ContainsAny(b[1:min(len(b), 3)], "xX") {
		return 0, errNotNumber
	}
	return strconv.ParseFloat(string(b), 64)
}

// kind says what a text looks like.
func (c *cells) kind(b []byte) kind {
	if v, err := c.number(b); err == nil {
		if math.IsNaN(v) {
			return kindUnknown
		}
		return kindNumber
	} else if err == errNotFinite || err == errTooLarge || err == errTooFar {
		return kindNumber
	} else if c.strict && (err == errNotDecimal || err == errNotComma || err == errEither) {
		return kindNumber
	}
	if _, ok := c.stamp(bytes.TrimSpace(b)); ok {
		return kindTime
	}
	return kindText
}
