package cpu

import (
	"math"

	"example.com/kestrel/device"
)

func (l *lane) Cholesky(sub []int, a, info device.Array) {
	x, f := arr(a), arr(info)
	want(x.rows == x.cols && (f == nil || f.shaped(1, 1)))
	n := x.rows
	for _, k := range sub {
		m := x.member(k)
		if failed := l.level.Cholesky(&l.work, n, m, n); failed > 0 {
			clear(m)
			addDiagonal(m, n, 1)
			if f != nil && f.member(k)[0] == 0 {
				f.member(k)[0] = float64(failed)
			}
		}
	}
}

func (l *lane) Solve(sub []int, trans bool, lower, b device.Array) {
	x, y := arr(lower), arr(b)
	if x == y {
		panic("cpu: solve in place")
	}
	n := x.rows
	want(x.cols == n && y.rows == n)
	for _, k := range sub {
		if y.cols == 1 {
			l.level.SolveVector(trans, n, x.member(k), n, y.member(k))
			continue
		}
		l.level.Solve(&l.work, trans, n, y.cols, x.member(k), n, y.member(k), y.cols)
	}
}

func (l *lane) SolveBoth(sub []int, lower, s device.Array) {
	x, y := arr(lower), arr(s)
	if x == y {
		panic("cpu: solve in place")
	}
	n := x.rows
	want(x.cols == n && y.shaped(n, n))
	for _, k := range sub {
		l.level.SolveBoth(&l.work, n, x.member(k), n, y.member(k), n)
	}
}

func (l *lane) Inverse(sub []int, lower, s device.Array) {
	x, y := arr(lower), arr(s)
	if x == y {
		panic("cpu: inverse in place")
	}
	n := x.rows
	want(x.cols == n)
	y.Reshape(n, n)
	for _, k := range sub {
		l.level.Inverse(&l.work, n, x.member(k), n, y.member(k), n)
	}
}

func (l *lane) LogDiag(sub []int, a, out device.Array) {
	x, o := arr(a), arr(out)
	want(x.rows == x.cols)
	o.Reshape(1, 1)
	for _, k := range sub {
		m := x.member(k)
		s := 0.0
		for i := range x.rows {
			s += math.Log(m[i*x.rows+i])
		}
		o.member(k)[0] = s
	}
}
