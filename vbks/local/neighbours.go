package local

import "sort"

// Reach says which rows a row is predicted from.
type Reach struct {
	Beside int       `json:"beside"`         // on each side the nearest
	Lags   []float64 `json:"lags,omitempty"` // at x + lag and x − lag
	AtLag  int       `json:"at_lag"`         // the nearest to each of these
}

// gap is an open interval about a row, from lo below to hi above, whose rows are not
// known.
type gap struct{ lo, hi float64 }

// neighbours appends the rows, by their places in the ascending x, that a row at v is
// predicted from, where those within the gap about it are not known. Self is its own place,
// which is not known either; −1: it is none of them.
func (r *Reach) neighbours(x []float64, v float64, g gap, self int, out []int32) []int32 {
	first := len(out)
	lo, hi := v-g.lo, v+g.hi
	left, right := sort.SearchFloat64s(x, lo), sort.SearchFloat64s(x, hi) // rows below left and from right on are known
	if g.lo == 0 && g.hi == 0 {
		if self >= 0 {
			left, right = self, self+1
		} else {
			right = left
		}
	} else if left < len(x) && x[left] == lo {
		left++
	}
	add := func(i int) {
		if i < 0 || i >= len(x) || i >= left && i < right {
			return
		}
		for _, o := range out[first:] {
			if int(o) == i {
				return
			}
		}
		out = append(out, int32(i))
	}
	for i := range r.Beside {
		add(left - 1 - i)
		add(right + i)
	}
	for _, lag := range r.Lags {
		for _, at := range []float64{v - lag, v + lag} {
			if at < x[0] || at > x[len(x)-1] {
				continue
			}
			i := nearest(x, at)
			add(i)
			for a, b, n := i-1, i+1, 1; n < r.AtLag; n++ {
				if b >= len(x) || a >= 0 && at-x[a] <= x[b]-at {
					add(a)
					a--
				} else {
					add(b)
					b++
				}
			}
		}
	}
	return out
}

// nearest returns the place of the row nearest to a value.
func nearest(x []float64, v float64) int {
	i := sort.SearchFloat64s(x, v)
	if i == len(x) || i > 0 && v-x[i-1] < x[i]-v {
		return i - 1
	}
	return i
}
