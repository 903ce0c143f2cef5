package inducing

import (
	"math"
	"slices"
)

// kmeans returns m ≤ len(p.rows) centres: k-means++ (Arthur and Vassilvitskii,
// SODA 2007), then Lloyd's iterations until nothing changes, 15 at most and
// fewer where they are expensive. A cluster that lost its rows starts again at
// the row farthest from its centre.
func (p *placer) kmeans(m int) []float64 {
	n, dim := len(p.rows), p.dim
	if m == n {
		return p.take(evenly(n, n))
	}
	pts := make([]float64, 0, n*dim)
	for _, i := range p.rows {
		pts = append(pts, p.row(i)...)
	}
	centres := p.seedCentres(pts, m)
	iterations := min(15, max(3, int(5e8/(float64(n)*float64(m)*float64(dim)))))

	owner := make([]int, n)
	dist := make([]float64, n)
	count := make([]int, m)
	for i := range owner {
		owner[i] = -1
	}
	for range iterations {
		changed := assign(pts, centres, dim, owner, dist)
		if !changed {
			break
		}
		clear(count)
		clear(centres)
		for i, c := range owner {
			count[c]++
			for d := range dim {
				centres[c*dim+d] += pts[i*dim+d]
			}
		}
		for c := range count {
			if count[c] == 0 {
				far := farthest(dist)
				dist[far] = 0
				copy(centres[c*dim:(c+1)*dim], pts[far*dim:])
				continue
			}
			for d := range dim {
				centres[c*dim+d] /= float64(count[c])
			}
		}
	}
	return p.separate(centres, pts)
}

// seedCentres draws the first centres: each next one is a row, taken with
// probability proportional to its squared distance from the nearest so far.
func (p *placer) seedCentres(pts []float64, m int) []float64 {
	dim := p.dim
	n := len(pts) / dim
	centres := make([]float64, 0, m*dim)
	next := p.rng.IntN(n)
	dist := make([]float64, n)
	for i := range dist {
		dist[i] = math.Inf(1)
	}
	for len(centres) < m*dim {
		centre := pts[next*dim : (next+1)*dim]
		centres = append(centres, centre...)
		var total float64
		for i := range dist {
			var r2 float64
			for d, c := range centre {
				t := pts[i*dim+d] - c
				r2 += t * t
			}
			dist[i] = min(dist[i], r2)
			total += dist[i]
		}
		u := p.rng.Float64() * total
		next = farthest(dist)
		for i, r2 := range dist {
			if u -= r2; u < 0 && r2 > 0 {
				next = i
				break
			}
		}
	}
	return centres
}

// assign finds every point's nearest centre and reports whether any changed.
// It goes through the centres in the order of their first column, outwards
// from the point, until that column alone is farther than the best.
func assign(pts, centres []float64, dim int, owner []int, dist []float64) bool {
	m := len(centres) / dim
	order := make([]int, m)
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return slices.Compare(centres[a*dim:a*dim+1], centres[b*dim:b*dim+1])
	})
	sorted := make([]float64, 0, m*dim)
	first := make([]float64, m)
	for k, c := range order {
		sorted = append(sorted, centres[c*dim:(c+1)*dim]...)
		first[k] = centres[c*dim]
	}
	changed := false
	for i := range owner {
		pt := pts[i*dim : (i+1)*dim]
		start, _ := slices.BinarySearch(first, pt[0])
		best, nearest := math.Inf(1), -1
		try := func(k int) bool {
			t := first[k] - pt[0]
			r2 := t * t
			if r2 >= best {
				return false
			}
			for d := 1; d < dim; d++ {
				t := sorted[k*dim+d] - pt[d]
				r2 += t * t
			}
			if r2 < best {
				best, nearest = r2, k
			}
			return true
		}
		lo, hi := start-1, start
		for lo >= 0 || hi < m {
			if hi < m {
				if try(hi) {
					hi++
				} else {
					hi = m
				}
			}
			if lo >= 0 {
				if try(lo) {
					lo--
				} else {
					lo = -1
				}
			}
		}
		if c := order[nearest]; c != owner[i] {
			owner[i], changed = c, true
		}
		dist[i] = best
	}
	return changed
}

func farthest(dist []float64) int {
	far := 0
	for i, r2 := range dist {
		if r2 > dist[far] {
			far = i
		}
	}
	return far
}

// key is a point as a key of a map.
func key(v []float64) string {
	b := make([]byte, 0, 8*len(v))
	for _, f := range v {
		for s, u := 0, math.Float64bits(f); s < 64; s += 8 {
			b = append(b, byte(u>>s))
		}
	}
	return string(b)
}

// separate replaces centres that coincide by points that are not among them.
func (p *placer) separate(centres, pts []float64) []float64 {
	dim := p.dim
	seen := make(map[string]bool, len(centres)/dim)
	next := 0
	for c := 0; c < len(centres); c += dim {
		for seen[key(centres[c:c+dim])] {
			copy(centres[c:c+dim], pts[next:next+dim])
			next += dim
		}
		seen[key(centres[c:c+dim])] = true
	}
	return centres
}
