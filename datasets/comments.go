package datasets

import "bytes"

// comments counts the lines at the top of a sample that begin with #, and the
// bytes they take. The last of them is not counted if it names the columns: it
// then has as many fields as the line of numbers below. Where spaces divide fields,
// its # is counted, too.
func (s *sample) comments(delim byte, c *cells) (lines, size int) {
	last, at, n := 0, 0, 0
	for {
		i := bytes.IndexByte(s.text[at:], '\n')
		if i < 0 {
			break
		}
		line := bytes.TrimSpace(s.text[at : at+i])
		if len(line) > 0 && line[0] != '#' {
			break
		}
		n++
		if len(line) > 0 {
			last = at
			lines, size = n, at+i+1
		}
		at += i + 1
	}
	if lines == 0 {
		return 0, 0
	}
	if delim == 0 {
		delim = (&sample{file: s.file, text: s.text[size:], whole: s.whole}).delimiter()
	}
	if delim == ' ' { // the mark may be a field of its own
		last += bytes.IndexByte(s.text[last:], '#') + 1
	}
	below := sample{file: s.file, text: s.text[last:], whole: s.whole}
	recs, err := below.records(delim, 2)
	if err != nil || len(recs) < 2 || len(recs[0]) < 2 || len(recs[0]) != len(recs[1]) || !looksLikeHeader(recs, c) {
		return lines, size
	}
	return lines - 1, last
}
