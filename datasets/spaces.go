package datasets

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// spacing is how the lines of a table that is divided by spaces are read: a day
// and the time of day beside it are one value.
type spacing struct {
	fields int    // of a line of values, as spaces divide it
	joins  []bool // of each, whether it belongs to the one before; nil: none does
}

// columns is the number of values in a line.
func (p *spacing) columns() int {
	n := p.fields
	for _, joined := range p.joins {
		if joined {
			n--
		}
	}
	return n
}

// join puts together what belongs together, in the memory of text, which it
// returns; fields are overwritten.
func (p *spacing) join(fields [][]byte, text []byte) (joined [][]byte, memory []byte) {
	if p.joins == nil || len(fields) != p.fields {
		return fields, text
	}
	out := fields[:0]
	for i, field := range fields {
		if !p.joins[i] {
			out = append(out, field)
			continue
		}
		begin := len(text)
		text = append(append(append(text, out[len(out)-1]...), ' '), field...)
		out[len(out)-1] = text[begin:]
	}
	return out, text
}

// spacingOf finds out how lines of values are read that spaces divide; the first
// line may hold names. It is nil if they are not alike or have less than two fields.
func spacingOf(lines [][]string) *spacing {
	if len(lines) > 1 {
		lines = lines[1:]
	}
	if len(lines) == 0 || len(lines[0]) < 2 || !alike(lines) {
		return nil
	}
	p := &spacing{fields: len(lines[0])}
	lines = slices.DeleteFunc(lines, func(line []string) bool { return len(line) != p.fields })
	joins, some := make([]bool, p.fields), false
	all := func(i int, is func(string) bool) bool {
		for _, line := range lines {
			if !is(line[i]) {
				return false
			}
		}
		return true
	}
	for i := 1; i < p.fields; i++ {
		switch {
		case all(i-1, isDay) && all(i, isClock), joins[i-1] && all(i, isHalf):
			joins[i], some = true, true
		}
	}
	if some {
		p.joins = joins
	}
	return p
}

// alike reports whether lines have as many fields as the first of them, all but
// one in ten: those the reader of the whole file will name.
func alike(lines [][]string) bool {
	others := 0
	for _, line := range lines {
		if len(line) != len(lines[0]) {
			others++
		}
	}
	return 10*others <= len(lines)
}

// isDay reports whether a text is a date without a time of day.
func isDay(text string) bool {
	b := []byte(text)
	if len(b) < 8 {
		return false
	}
	if _, _, _, rest, ok := parseDate(b); ok {
		return len(rest) == 0
	}
	d := parseLocalDate(b)
	return d.ok && len(d.rest) == 0
}

func isClock(text string) bool {
	_, ok := parseLocalClock([]byte(text))
	return ok
}

func isHalf(text string) bool { return strings.EqualFold(text, "am") || strings.EqualFold(text, "pm") }

var wideGap = regexp.MustCompile(`[ \t]{2,}|\t`)

// first divides the first line, which may hold names, where spaces divide it into
// fields: as a line of values or, if it is none, where there is more than a single
// space, which may be part of a name.
func (p *spacing) first(line []byte, fields [][]byte) [][]byte {
	want := p.columns()
	if len(fields) == want && p.joins == nil {
		return fields
	}
	if wide := wideGap.Split(string(bytes.TrimSpace(line)), -1); len(wide) == want {
		for i, name := range wide {
			wide[i] = strings.Trim(name, `"`)
		}
		return toBytes(wide)
	}
	if len(fields) == want {
		return fields
	}
	fields, _ = p.join(fields, nil)
	return fields
}

func toBytes(texts []string) [][]byte {
	out := make([][]byte, len(texts))
	for i, t := range texts {
		out[i] = []byte(t)
	}
	return out
}

// spacing finds out how the lines of a sample that spaces divide are read.
func (s *sample) spacing() *spacing {
	lines, err := s.split(' ', nil, sampleRecords)
	if err != nil {
		return nil
	}
	return spacingOf(lines)
}

// spaced reports whether spaces divide the lines of a sample: into the same number
// of fields, of which one column at least holds numbers or time stamps alone, and
// any with a comma or a semicolon is a number. commas are the lines as commas
// divide them, where these do so with all; then they must be decimal signs, or
// they would leave no texts such as "5 0" of 0,5 0,7.
func (s *sample) spaced(commas [][]string) bool {
	lines, err := s.records(' ', sampleRecords)
	if err != nil || len(lines) == 0 {
		return false
	}
	values := lines
	if len(lines) > 1 && commas == nil {
		values = lines[1:]
	}
	n := len(values[0])
	if n < 2 || len(values) < 2 && len(lines[0]) != n || !alike(values) {
		return false
	}
	numbers := make([]bool, n) // columns of them
	for i := range numbers {
		numbers[i] = true
	}
	for r, line := range values {
		if len(line) != n {
			continue
		}
		for i, text := range line {
			number := isNumber(text)
			if !number && strings.ContainsAny(text, ",;") {
				return false
			}
			units := r == 0 && len(values) > 1 && commas == nil // perhaps
			numbers[i] = numbers[i] && (number || units || isStamp(text))
		}
	}
	if commas == nil {
		return slices.Contains(numbers, true)
	}
	if slices.Contains(numbers, false) {
		return false
	}
	byPoint := writing{decimal: '.', sure: true}
	return slices.ContainsFunc(commas, func(line []string) bool {
		return slices.ContainsFunc(line, func(text string) bool {
			text = strings.TrimSpace(text)
			return text != "" && byPoint.plain([]byte(text), nil) == nil && !isStamp(text)
		})
	})
}

// isNumber reports whether a text is a number, whichever sign is for decimals.
func isNumber(text string) bool {
	byComma, byPoint := writing{decimal: ',', sure: true}, writing{decimal: '.', sure: true}
	return byComma.plain([]byte(text), nil) != nil || byPoint.plain([]byte(text), nil) != nil
}

// isStamp reports whether a text is a time stamp, in whichever order day and month
// are.
func isStamp(text string) bool {
	b := []byte(text)
	if _, ok := parseStamp(b); ok {
		return true
	}
	for _, order := range []dateOrder{dayFirst, monthFirst} {
		c := cells{writing: writing{dates: order}}
		if _, ok := c.stamp(b); ok {
			return true
		}
	}
	return false
}
