//go:build cuda

package cuda

import "example.com/kestrel/device/cuda/driver"

// tile is what a block of a product computes.
type tile struct {
	rows, cols, threads int
	prefix              string // of the kernels, before the letters that say what is transposed
}

var (
	tile32  = tile{32, 32, 128, "gemm32_"}
	tile64  = tile{64, 64, 128, "gemm64_"}
	tile128 = tile{128, 64, 256, "gemm128_"}
)

// manyRows is from how many rows of a product on half a tile of 128 more is of no account.
const manyRows = 512

// tileOf chooses by the shape, never by the batch: small matrices in tiles of 32, and in tiles of 128 x 64
// those whose rows fill them and which can be copied by pairs of numbers, as all with even numbers
// of rows and columns can. Bits do not depend on it, since every entry is summed in the same order.
func (l *lane) tileOf(m, n int, a, b operand) tile {
	switch {
	case min(m, n) <= 32:
		return tile32
	case l.tall && (m >= manyRows || (m-1)%128 >= 64) && !(a.trans && b.trans) && a.paired() && b.paired():
		return tile128
	}
	return tile64
}

// product computes c = alpha op(a) op(b) + beta c, m x n with inner dimension k.
func (l *lane) product(sub []int, p part, m, n, k int, alpha float64, a, b operand, beta float64, c operand) {
	t := l.tileOf(m, n, a, b)
	name := t.prefix
	for _, trans := range []bool{a.trans, b.trans} {
		if trans {
			name += "t"
		} else {
			name += "n"
		}
	}
	l.blocks(name, sub, ceilDiv(m, t.rows)*ceilDiv(n, t.cols), t.threads, driver.Int(m), driver.Int(n), driver.Int(k), driver.Float(alpha),
		a.begin(), a.skip(), driver.Int(a.pitch), b.begin(), b.skip(), driver.Int(b.pitch),
		driver.Float(beta), c.begin(), c.skip(), driver.Int(c.pitch), driver.Int(int(p)))
}
