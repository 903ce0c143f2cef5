package simd

// The functions of vec_amd64.s, by level. Arrays have n entries, a positive multiple
// of 8.

func (l Level) vecExp(dst, x *float64, n int, c, s float64) {
	if l == AVX512 {
		vecExpAVX512(dst, x, n, c, s)
		return
	}
	vecExpAVX2(dst, x, n, c, s)
}

func (l Level) vecPower(dst, x *float64, n int, c, s float64) {
	if l == AVX512 {
		vecPowerAVX512(dst, x, n, c, s)
		return
	}
	vecPowerAVX2(dst, x, n, c, s)
}

func (l Level) vecLog1p(dst, x *float64, n int, c float64) {
	if l == AVX512 {
		vecLog1pAVX512(dst, x, n, c)
		return
	}
	vecLog1pAVX2(dst, x, n, c)
}

func (l Level) vecLog2p1(dst, x *float64, n int, c float64) {
	if l == AVX512 {
		vecLog2p1AVX512(dst, x, n, c)
		return
	}
	vecLog2p1AVX2(dst, x, n, c)
}

func (l Level) vecSinPi(dst, x *float64, n int) {
	if l == AVX512 {
		vecSinPiAVX512(dst, x, n)
		return
	}
	vecSinPiAVX2(dst, x, n)
}

func (l Level) vecRq(v, log, f *float64, n int, h, negAlpha, s float64) {
	if l == AVX512 {
		vecRqAVX512(v, log, f, n, h, negAlpha, s)
		return
	}
	vecRqAVX2(v, log, f, n, h, negAlpha, s)
}

func (l Level) vecRational(v, f *float64, n int, h, s float64) {
	if l == AVX512 {
		vecRationalAVX512(v, f, n, h, s)
		return
	}
	vecRationalAVX2(v, f, n, h, s)
}

func (l Level) vecRqGrad(w, a, v, f, log *float64, n int, h float64) (sum, scale, shape float64) {
	if l == AVX512 {
		return vecRqGradAVX512(w, a, v, f, log, n, h)
	}
	return vecRqGradAVX2(w, a, v, f, log, n, h)
}

func (l Level) vecReduce(u, d *float64, n int, p, inv float64) (bad uint64) {
	if l == AVX512 {
		return vecReduceAVX512(u, d, n, p, inv)
	}
	return vecReduceAVX2(u, d, n, p, inv)
}

func (l Level) vecSinCos(sin, cos, u *float64, n int) {
	if l == AVX512 {
		vecSinCosAVX512(sin, cos, u, n)
		return
	}
	vecSinCosAVX2(sin, cos, u, n)
}

func (l Level) vecPer(v, sq, sc, sin, cos, d *float64, n int, il, slope, c, s float64) {
	if l == AVX512 {
		vecPerAVX512(v, sq, sc, sin, cos, d, n, il, slope, c, s)
		return
	}
	vecPerAVX2(v, sq, sc, sin, cos, d, n, il, slope, c, s)
}

func (l Level) vecPerValue(v, sin *float64, n int, c, s float64) {
	if l == AVX512 {
		vecPerValueAVX512(v, sin, n, c, s)
		return
	}
	vecPerValueAVX2(v, sin, n, c, s)
}

func (l Level) vecPerAdd(sq, sc, sin, cos, d *float64, n int, il, slope float64) {
	if l == AVX512 {
		vecPerAddAVX512(sq, sc, sin, cos, d, n, il, slope)
		return
	}
	vecPerAddAVX2(sq, sc, sin, cos, d, n, il, slope)
}

func (l Level) vecCosine(v, slope, u *float64, n int, s, slopeScale float64) {
	if l == AVX512 {
		vecCosineAVX512(v, slope, u, n, s, slopeScale)
		return
	}
	vecCosineAVX2(v, slope, u, n, s, slopeScale)
}

func (l Level) vecAdd(dst, a, b *float64, n int) {
	if l == AVX512 {
		vecAddAVX512(dst, a, b, n)
		return
	}
	vecAddAVX2(dst, a, b, n)
}

func (l Level) vecMul(dst, a, b *float64, n int) {
	if l == AVX512 {
		vecMulAVX512(dst, a, b, n)
		return
	}
	vecMulAVX2(dst, a, b, n)
}

func (l Level) vecScale(dst, a *float64, n int, c float64) {
	if l == AVX512 {
		vecScaleAVX512(dst, a, n, c)
		return
	}
	vecScaleAVX2(dst, a, n, c)
}

func (l Level) vecAffine(dst, a *float64, n int, c, b, s float64) {
	if l == AVX512 {
		vecAffineAVX512(dst, a, n, c, b, s)
		return
	}
	vecAffineAVX2(dst, a, n, c, b, s)
}

func (l Level) vecDot2(a, v, x *float64, n int) (sum, sumX float64) {
	if l == AVX512 {
		return vecDot2AVX512(a, v, x, n)
	}
	return vecDot2AVX2(a, v, x, n)
}

func (l Level) vecDot3(a, v, x, y *float64, n int) (sum, sumX, sumY float64) {
	if l == AVX512 {
		return vecDot3AVX512(a, v, x, y, n)
	}
	return vecDot3AVX2(a, v, x, y, n)
}

func (l Level) vecMatern12(v, f *float64, n int, c, variance float64) {
	if l == AVX512 {
		vecMatern12AVX512(v, f, n, c, variance)
		return
	}
	vecMatern12AVX2(v, f, n, c, variance)
}

func (l Level) vecMatern12Grad(w, a, v, f *float64, n int, c float64) (sum, scale float64) {
	if l == AVX512 {
		return vecMatern12GradAVX512(w, a, v, f, n, c)
	}
	return vecMatern12GradAVX2(w, a, v, f, n, c)
}

func (l Level) vecMatern32(v, f *float64, n int, c, variance float64) {
	if l == AVX512 {
		vecMatern32AVX512(v, f, n, c, variance)
		return
	}
	vecMatern32AVX2(v, f, n, c, variance)
}

func (l Level) vecMatern32Grad(w, a, v, f *float64, n int, c float64) (sum, scale float64) {
	if l == AVX512 {
		return vecMatern32GradAVX512(w, a, v, f, n, c)
	}
	return vecMatern32GradAVX2(w, a, v, f, n, c)
}

func (l Level) vecMatern52(v, f *float64, n int, c, variance float64) {
	if l == AVX512 {
		vecMatern52AVX512(v, f, n, c, variance)
		return
	}
	vecMatern52AVX2(v, f, n, c, variance)
}

func (l Level) vecMatern52Grad(w, a, v, f *float64, n int, c float64) (sum, scale float64) {
	if l == AVX512 {
		return vecMatern52GradAVX512(w, a, v, f, n, c)
	}
	return vecMatern52GradAVX2(w, a, v, f, n, c)
}

func (l Level) vecDeltas(dst *float64, segments *int32, n int, columns **float64, count int) {
	if l == AVX512 {
		vecDeltasAVX512(dst, segments, n, columns, count)
		return
	}
	vecDeltasAVX2(dst, segments, n, columns, count)
}

func (l Level) vecDistances(dst *float64, segments *int32, n int, columns **float64, count int) {
	if l == AVX512 {
		vecDistancesAVX512(dst, segments, n, columns, count)
		return
	}
	vecDistancesAVX2(dst, segments, n, columns, count)
}

func (l Level) vecProducts(dst *float64, segments *int32, n int, columns **float64, count int) {
	if l == AVX512 {
		vecProductsAVX512(dst, segments, n, columns, count)
		return
	}
	vecProductsAVX2(dst, segments, n, columns, count)
}

func (l Level) vecTurnSin(sin *float64, segments *int32, n int, columns **float64) {
	if l == AVX512 {
		vecTurnSinAVX512(sin, segments, n, columns)
		return
	}
	vecTurnSinAVX2(sin, segments, n, columns)
}

func (l Level) vecTurn(sin, cos *float64, segments *int32, n int, columns **float64) {
	if l == AVX512 {
		vecTurnAVX512(sin, cos, segments, n, columns)
		return
	}
	vecTurnAVX2(sin, cos, segments, n, columns)
}
