package datasets

// labels are the texts of a column that tells series apart.
type labels struct {
	names []string // in the order of the file
	of    []int32  // by row: a place in names, −1 where there is no text

	places map[string]int32
}

// add takes the next row's text in. Only an empty one is missing: NA is a country.
func (l *labels) add(text string) {
	if text == "" {
		l.of = append(l.of, -1)
		return
	}
	at, known := l.places[text]
	if !known {
		if l.places == nil {
			l.places = map[string]int32{}
		}
		at = int32(len(l.names))
		l.names = append(l.names, text)
		l.places[text] = at
	}
	l.of = append(l.of, at)
}

// keep leaves the rows that were kept; nil: all.
func (l *labels) keep(rows []int32) *labels {
	if l == nil || rows == nil {
		return l
	}
	return &labels{names: l.names, of: picked(l.of, rows), places: l.places}
}

// rows lists, by name, the rows that have it.
func (l *labels) rows() [][]int32 {
	out := make([][]int32, len(l.names))
	for row, at := range l.of {
		if at >= 0 {
			out[at] = append(out[at], int32(row))
		}
	}
	return out
}

func picked[T any](from []T, rows []int32) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = from[r]
	}
	return out
}
