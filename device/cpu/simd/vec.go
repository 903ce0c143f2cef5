package simd

//go:generate sh -c "cd gen && go run ./vec -out ../vec_amd64.s -stubs ../vec_amd64.go -pkg simd"

// block is what the length of the arrays of the leaf kernels is a multiple of.
const block = 8

// Padded returns the smallest multiple of 8 that is at least n: the length of
// the arrays of the leaf kernels.
func Padded(n int) int { return (n + block - 1) &^ (block - 1) }

// elementary is a function of one variable.
type elementary uint8

const (
	expOf elementary = iota
	log1pOf
	sinPiOf
)

// Exp sets dst = exp(x), entry by entry, with an error below 1 unit in the last
// place (2 at the portable level); overflow is +Inf, underflow goes through the
// subnormal numbers to 0. dst may be x.
func (l Level) Exp(dst, x []float64) { l.apply(expOf, dst, x) }

// Log1p sets dst = log(1+x) for x >= 0, with an error below 2 units in the last place.
func (l Level) Log1p(dst, x []float64) { l.apply(log1pOf, dst, x) }

// SinPi sets dst = sin(πx), with an error below 2 units in the last place; the
// argument is reduced exactly. NaN where x is not finite.
func (l Level) SinPi(dst, x []float64) { l.apply(sinPiOf, dst, x) }

// apply computes arrays of any length; the assembly wants whole blocks.
func (l Level) apply(f elementary, dst, x []float64) {
	n := len(dst) &^ (block - 1)
	x = x[:len(dst)]
	if n > 0 {
		l.applyBlocks(f, dst[:n], x[:n])
	}
	if n < len(dst) {
		var rest [block]float64
		copy(rest[:], x[n:])
		l.applyBlocks(f, rest[:], rest[:])
		copy(dst[n:], rest[:])
	}
}

func (l Level) applyBlocks(f elementary, dst, x []float64) {
	switch {
	case f == expOf && l.assembly():
		l.vecExp(&dst[0], &x[0], len(dst), 1, 1)
	case f == expOf:
		expPortable(dst, x, 1, 1)
	case f == log1pOf && l.assembly():
		l.vecLog1p(&dst[0], &x[0], len(dst), 1)
	case f == log1pOf:
		log1pPortable(dst, x, 1)
	case l.assembly():
		l.vecSinPi(&dst[0], &x[0], len(dst))
	default:
		for j := range dst {
			dst[j] = sinPi(x[j])
		}
	}
}
