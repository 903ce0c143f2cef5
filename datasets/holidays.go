package datasets

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"example.com/kestrel/datasets/holidays"
)

// date is a day of the calendar, in no zone.
type date struct {
	year, day int
	month     time.Month
}

func dateOf(t time.Time) date {
	year, month, day := t.Date()
	return date{year, day, month}
}

// String writes it as 2024-12-25.
func (d date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.year, d.month, d.day) }

// knownHolidays takes the holidays of a country, from some years before the rows of d to
// decades behind them, so that a file of a model need not know the rules.
func (k *calendar) knownHolidays(code string, d *Dataset) error {
	if _, known := holidays.Days(code, 2000, 2000); !known {
		return fmt.Errorf("data.holidays = %s: the holidays of that country or part of one are not known; name one of %s, "+
			"or a file of dates", quoteText(code), strings.Join(holidays.Codes(), ", "))
	}
	if d.N() == 0 { // which is told where rows are divided
		return nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range d.N() {
		v := d.X[i*d.Dim]
		low, high = min(low, v), max(high, v)
	}
	in := &d.Inputs[0]
	days, _ := holidays.Days(code, in.At(low).Year()-yearsBefore, in.At(high).Year()+yearsBehind)
	for _, day := range days {
		k.observe(dateOf(day))
	}
	return nil
}

// Years around the rows of which holidays of a country are known: more behind them, where
// forecasts are made.
const (
	yearsBefore = 2
	yearsBehind = 25
)

// readHolidays reads the dates of Spec.Holidays: one a line, in a form that time stamps
// may have, and behind a comma, semicolon or tab anything, such as the name of the
// holiday. The first line may be a header; empty lines and those that begin with # are
// passed over. order is that of day and month where the dates do not tell.
func (k *calendar) readHolidays(ctx context.Context, s *Spec, order dateOrder) error {
	path, err := find(ctx, s.Holidays, s.SearchDirs)
	if err != nil {
		return fmt.Errorf("data.holidays: %w", err)
	}
	src, err := openSource(ctx, path, false)
	if err != nil {
		return fmt.Errorf("data.holidays: %w", err)
	}
	defer src.Close()
	file := filepath.Base(path)
	c := newCells(s.Missing)
	var dates [][]byte
	var rows [][]string
	var lines []int
	in := bufio.NewScanner(src)
	for n := 1; in.Scan(); n++ {
		text := bytes.TrimPrefix(in.Bytes(), []byte("\xef\xbb\xbf"))
		if i := bytes.IndexAny(text, ",;\t"); i >= 0 {
			text = text[:i]
		}
		text = bytes.Trim(text, " \"'\r")
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		dates, rows, lines = append(dates, bytes.Clone(text)), append(rows, []string{string(text)}), append(lines, n)
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("data.holidays: %s: %w", file, err)
	}
	if _, err := io.Copy(io.Discard, src); err != nil {
		return fmt.Errorf("data.holidays: %s: %w", file, err)
	}
	switch found := lookAt(rows); {
	case found.day && !found.month:
		c.dates = dayFirst
	case found.month && !found.day:
		c.dates = monthFirst
	case !found.day:
		c.dates = order
	}
	for i, text := range dates {
		us, ok := c.stamp(text)
		switch {
		case ok:
			k.observe(dateOf(time.UnixMicro(us).UTC()))
		case i == 0 && (text[0] < '0' || text[0] > '9'): // a header
		default:
			return &LineError{file, lines[i], fmt.Sprintf("%s is no date; data.holidays wants one a line, such as 2024-12-25, "+
				"and a name behind a comma if there is one", quoteText(string(text)))}
		}
	}
	if len(k.days) == 0 {
		return fmt.Errorf("data.holidays: %s has no dates; write one a line, such as 2024-12-25", file)
	}
	if k.sha256, err = src.sha256(); err != nil {
		return fmt.Errorf("data.holidays: %s: %w", file, err)
	}
	k.path = path
	return nil
}
