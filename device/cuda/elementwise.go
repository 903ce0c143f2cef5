//go:build cuda

package cuda

import (
	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
)

func (l *lane) Copy(sub []int, dst, src device.Array) {
	d, s := l.arr(dst), l.arr(src)
	d.Reshape(s.rows, s.cols)
	l.elements("copy", sub, s.rows*s.cols, d.at(), d.skip(), s.at(), s.skip())
}

func (l *lane) Fill(sub []int, a device.Array, value float64) {
	x := l.arr(a)
	l.elements("fill", sub, x.rows*x.cols, x.at(), x.skip(), driver.Float(value))
}

// tiles32 is the number of 32 x 32 tiles of a matrix.
func tiles32(rows, cols int) int { return ceilDiv(rows, 32) * ceilDiv(cols, 32) }

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func (l *lane) Transpose(sub []int, dst, src device.Array) {
	d, s := l.arr(dst), l.arr(src)
	if d == s {
		panic("cuda: transpose in place")
	}
	d.Reshape(s.cols, s.rows)
	l.blocks("transpose", sub, tiles32(s.rows, s.cols), blockThreads, driver.Int(s.rows), driver.Int(s.cols), d.at(), d.skip(),
		s.at(), s.skip())
}

func (l *lane) AddScaled(sub []int, dst device.Array, alpha float64, src device.Array) {
	d, s := l.arr(dst), l.arr(src)
	want(d.shaped(s.rows, s.cols))
	l.begin(sub)
	var at driver.Ptr
	if alpha != 1 && alpha != -1 {
		// A natural step's size is another each time, until so many rows as it averages over have been seen.
		if at = l.card.Vary(alpha); at != 0 {
			alpha = 0
		}
	}
	l.elements("add_scaled", sub, s.rows*s.cols, d.at(), d.skip(), driver.Float(alpha), uint64(at), s.at(), s.skip())
}

func (l *lane) AddDiagonal(sub []int, a device.Array, value float64) {
	x := l.arr(a)
	want(x.rows == x.cols)
	l.elements("add_diagonal", sub, x.rows, x.at(), x.skip(), driver.Float(value))
}

// square runs a kernel (sub, n, ...) with a thread for each of n x n entries.
func (l *lane) square(name string, sub []int, n int, args ...uint64) {
	l.begin(sub)
	l.args = append(l.args, driver.Int(n))
	l.args = append(l.args, args...)
	l.launch(l.library[name], sub, ceilDiv(n*n, blockThreads), blockThreads, 0)
}

func (l *lane) Triangle(sub []int, a device.Array, diag float64) {
	x := l.arr(a)
	want(x.rows == x.cols)
	l.square("triangle", sub, x.rows, x.at(), x.skip(), driver.Float(diag))
}

// jitter adds to the diagonal factor·(relative·mean of it + absolute).
func (l *lane) jitter(sub []int, a device.Array, relative, absolute float64, factor device.Array) {
	x, f := l.arr(a), l.arr(factor)
	want(x.rows == x.cols && f.shaped(1, 1))
	if x.rows == 0 {
		return
	}
	l.blocks("jitter", sub, 1, blockThreads, driver.Int(x.rows), x.at(), x.skip(), driver.Float(relative), driver.Float(absolute),
		f.at(), f.skip())
}

func (l *lane) AddJitter(sub []int, kzz device.Array, j device.Jitter, factor device.Array) {
	l.jitter(sub, kzz, j.Relative, j.Absolute, factor)
}

// JitterGrad: ε is added to every diagonal entry and is a multiple of their
// mean.
func (l *lane) JitterGrad(sub []int, bar device.Array, j device.Jitter, factor device.Array) {
	l.jitter(sub, bar, j.Relative, 0, factor)
}
