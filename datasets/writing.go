package datasets

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// writing is how the values of a table are written, where this is not the same in
// all of the world.
type writing struct {
	decimal byte      // '.' or ','; 0 stands for '.'
	sure    bool      // the table shows so, or the user says so: the other sign may divide thousands
	dates   dateOrder // of dates with slashes or hyphens
}

// plain returns a number as strconv takes it, nil if it is none: with a point for
// the decimal sign, and without what divides thousands, that is apostrophes, spaces
// and, if w is sure, the other sign. A number that is divided is divided throughout.
// The result is in buf's memory.
func (w *writing) plain(b, buf []byte) []byte {
	decimal, other := byte('.'), byte(',')
	if w.decimal == ',' {
		decimal, other = other, decimal
	}
	b, out := bytes.TrimSpace(b), buf[:0]
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		out, b = append(out, b[0]), b[1:]
	}
	run := func() (n int) {
		for n < len(b) && b[n] >= '0' && b[n] <= '9' {
			n++
		}
		out, b = append(out, b[:n]...), b[n:]
		return n
	}
	zero := len(b) > 0 && b[0] == '0'
	whole := run()
	if mark := divider(b, other, w.sure); mark > 0 && whole >= 1 && whole <= 3 && !zero {
		divides := string(b[:mark]) // short: on the stack
		for len(b) > mark && string(b[:mark]) == divides {
			b = b[mark:]
			if run() != 3 {
				return nil
			}
		}
	}
	if len(b) > 0 && b[0] == decimal {
		out, b = append(out, '.'), b[1:]
		whole += run()
	}
	if whole == 0 {
		return nil
	}
	if len(b) > 1 && b[0]|0x20 == 'e' {
		out, b = append(out, 'e'), b[1:]
		if b[0] == '-' || b[0] == '+' {
			out, b = append(out, b[0]), b[1:]
		}
		if run() == 0 {
			return nil
		}
	}
	if len(b) > 0 {
		return nil
	}
	return out
}

// divider returns the length of a sign at the start of b that divides thousands, 0
// if there is none. A no-break space is one of UTF-8 or of Latin-1.
func divider(b []byte, other byte, sure bool) int {
	switch {
	case len(b) == 0:
	case b[0] == '\'', b[0] == ' ', b[0] == 0xa0, b[0] == other && sure:
		return 1
	case bytes.HasPrefix(b, []byte("\u00a0")):
		return 2
	case bytes.HasPrefix(b, []byte("\u202f")), bytes.HasPrefix(b, []byte("\u2019")):
		return 3
	}
	return 0
}

// signs is what the values of a sample show about their writing.
type signs struct {
	comma      bool   // a number can only be read with commas as decimal signs
	point      bool   // or with points
	commas     string // the first number with a comma
	ambiguous  bool   // a column has numbers such as 1,234 and such as 987
	points     string // the first number such as 1.234, which either sign could be meant in
	doubtful   bool   // a column has such numbers and such as 987
	date       string // the first date whose form does not tell the order
	day, month bool   // a date can only be read with the day first, or the month
}

// lookAt looks for signs in records.
func lookAt(recs [][]string) *signs {
	s := &signs{}
	byComma, byPoint := writing{decimal: ',', sure: true}, writing{decimal: '.', sure: true}
	var divided, pointed, short []bool // by column
	var buf [64]byte
	for _, rec := range recs {
		for i, text := range rec {
			b := bytes.TrimSpace([]byte(text))
			if len(b) == 0 || b[0] > '9' {
				continue
			}
			if d := parseLocalDate(b); d.ok && d.numeric {
				if s.date == "" {
					s.date = string(b)
				}
				s.day = s.day || d.first > 12 && d.second <= 12
				s.month = s.month || d.second > 12 && d.first <= 12
				continue
			}
			for len(divided) <= i {
				divided, pointed, short = append(divided, false), append(pointed, false), append(short, false)
			}
			comma, point := byComma.plain(b, buf[:]) != nil, byPoint.plain(b, buf[:]) != nil
			if !comma && !point {
				continue
			}
			hasComma := bytes.IndexByte(b, ',') >= 0
			switch {
			case comma && !point:
				s.comma = true
			case point && !comma:
				s.point = true
			case hasComma:
				divided[i] = true
			case bytes.IndexByte(b, '.') >= 0:
				if pointed[i] = true; s.points == "" {
					s.points = string(b)
				}
			case len(bytes.TrimLeft(b, "+-")) <= 3:
				short[i] = true
			}
			if hasComma && s.commas == "" {
				s.commas = string(b)
			}
		}
	}
	for i := range divided {
		s.ambiguous = s.ambiguous || divided[i] && short[i]
		s.doubtful = s.doubtful || pointed[i] && short[i]
	}
	return s
}

// learn finds out how the values of a table are written: the decimal sign, unless
// the user names it, and the order of day and month. Where nothing in the sample
// tells, it is as by has it. It returns what the user should know.
//
// Numbers such as 1,234 alone could be of either sign. If a column has nothing else
// it is taken for a decimal, which at worst changes the unit; if it has 987, too,
// it is not read at all. Of 1.234 beside 987 the user is told: where commas divide
// fields or a point is found to be a decimal sign there is no doubt.
func (c *cells) learn(s *sample, recs [][]string, delim byte, decimal string, by writing) (notices []string) {
	found := lookAt(recs)
	// Few tables: of those all of the sample is looked at.
	if found.commas != "" || found.date != "" || found.points != "" && !found.point && delim != ',' {
		if all, err := s.records(delim, math.MaxInt); err == nil {
			found = lookAt(all)
		}
	}
	c.strict = delim != ','
	named := decimal == "." || decimal == ","
	c.writing = writing{decimal: '.'}
	switch {
	case named:
		c.decimal, c.sure = decimal[0], true
	case found.comma && found.point:
	case found.point:
		c.sure = true
	case delim == ',':
	case found.comma:
		c.decimal, c.sure = ',', true
	case by.decimal != 0:
		c.decimal, c.sure = by.decimal, by.sure
	case found.commas != "" && !found.ambiguous:
		c.decimal = ','
	}
	if b := c.plain([]byte(found.commas), nil); b != nil && !named {
		switch {
		case c.decimal == '.':
			notices = append(notices, fmt.Sprintf("commas divide thousands: %s is read as %s", quoteText(found.commas), b))
		case c.sure:
			notices = append(notices, fmt.Sprintf("the comma is the decimal sign: %s is read as %s", quoteText(found.commas), b))
		default:
			notices = append(notices, fmt.Sprintf(`the comma is taken for the decimal sign: %s is read as %s; `+
				`if it divides thousands, set decimal = "."`, quoteText(found.commas), b))
		}
	}
	switch {
	case named || found.points == "":
	case c.decimal == ',' && c.sure:
		notices = append(notices,
			fmt.Sprintf("points divide thousands: %s is read as %s", quoteText(found.points), c.plain([]byte(found.points), nil)))
	case !c.sure && found.doubtful && !found.comma && delim != ',':
		notices = append(notices, fmt.Sprintf(`the point is taken for the decimal sign: %s is read so; `+
			`if it divides thousands, set decimal = ","`, quoteText(found.points)))
	}
	c.code()
	switch {
	case found.day != found.month && found.day:
		c.dates = dayFirst
	case found.day != found.month:
		c.dates = monthFirst
	case !found.day:
		c.dates = by.dates
	}
	if order := map[dateOrder]string{dayFirst: "day, month, year", monthFirst: "month, day, year"}[c.dates]; found.date != "" && order != "" {
		notices = append(notices, fmt.Sprintf("dates such as %s are read as %s", quoteText(found.date), order))
	}
	return notices
}

// whyNot says why a text that is no number is none, if its signs are the reason.
func (c *cells) whyNot(b []byte) error {
	other := writing{decimal: ',', sure: true}
	if c.decimal == ',' {
		if other.decimal = '.'; other.plain(b, nil) != nil {
			return errNotComma
		}
		return errNotNumber
	}
	if bytes.IndexByte(b, ',') < 0 || other.plain(b, nil) == nil {
		return errNotNumber
	}
	if (&writing{decimal: '.', sure: true}).plain(b, nil) != nil {
		return errEither
	}
	return errNotDecimal
}

// whyNoStamp says of a text that is not read as a time stamp why, or which forms
// are, if it looks like one; else it is empty.
func whyNoStamp(text string) string {
	text = strings.TrimSpace(text)
	switch {
	case len(text) == 0 || text[0] < '0' || text[0] > '9' || !strings.ContainsAny(text, "/:-."):
		return ""
	case orderless([]byte(text)):
		return fmt.Sprintf(": %s %v", quoteText(text), errDayMonth)
	}
	return fmt.Sprintf(": %s; %s", quoteText(text), stampForms)
}
