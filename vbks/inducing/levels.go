package inducing

// levelRows is the largest number of rows of which the nearest is looked for.
const levelRows = 20_000

// OnLevels puts inducing inputs, m x dim, on levels: along columns that hold such, where
// the middle of two is none, each takes those of the nearest row of x, N x dim, one of
// some 20,000 evenly taken. One that then is where another is becomes a row that none
// is, if there is one. z is changed and returned, sorted by its first column.
func OnLevels(z, x []float64, dim int, columns []int) []float64 {
	if len(columns) == 0 {
		return z
	}
	n := len(x) / dim
	rows := evenly(n, min(n, levelRows))
	row := func(of []float64, i int) []float64 { return of[i*dim : (i+1)*dim] }
	for i := range len(z) / dim {
		at, nearest, best := row(z, i), 0, -1.0
		for _, r := range rows {
			square := 0.0
			for c, v := range row(x, r) {
				square += (v - at[c]) * (v - at[c])
			}
			if best < 0 || square < best {
				nearest, best = r, square
			}
		}
		for _, c := range columns {
			at[c] = x[nearest*dim+c]
		}
	}
	taken := map[string]bool{}
	next := 0
	for i := range len(z) / dim {
		at := row(z, i)
		for taken[key(at)] && next < len(rows) {
			copy(at, row(x, rows[next]))
			next++
		}
		taken[key(at)] = true
	}
	return sortRows(z, dim)
}
