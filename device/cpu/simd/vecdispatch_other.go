//go:build !amd64

package simd

func (l Level) vecExp(dst, x *float64, n int, c, s float64) { panic(noAssembly) }

func (l Level) vecPower(dst, x *float64, n int, c, s float64) { panic(noAssembly) }

func (l Level) vecLog1p(dst, x *float64, n int, c float64) { panic(noAssembly) }

func (l Level) vecLog2p1(dst, x *float64, n int, c float64) { panic(noAssembly) }

func (l Level) vecSinPi(dst, x *float64, n int) { panic(noAssembly) }

func (l Level) vecRq(v, log, f *float64, n int, h, negAlpha, s float64) { panic(noAssembly) }

func (l Level) vecRational(v, f *float64, n int, h, s float64) { panic(noAssembly) }

func (l Level) vecRqGrad(w, a, v, f, log *float64, n int, h float64) (sum, scale, shape float64) {
	panic(noAssembly)
}

func (l Level) vecReduce(u, d *float64, n int, p, inv float64) (bad uint64) { panic(noAssembly) }

func (l Level) vecSinCos(sin, cos, u *float64, n int) { panic(noAssembly) }

func (l Level) vecPer(v, sq, sc, sin, cos, d *float64, n int, il, slope, c, s float64) {
	panic(noAssembly)
}

func (l Level) vecPerValue(v, sin *float64, n int, c, s float64) { panic(noAssembly) }

func (l Level) vecPerAdd(sq, sc, sin, cos, d *float64, n int, il, slope float64) { panic(noAssembly) }

func (l Level) vecCosine(v, slope, u *float64, n int, s, slopeScale float64) { panic(noAssembly) }

func (l Level) vecAdd(dst, a, b *float64, n int) { panic(noAssembly) }

func (l Level) vecMul(dst, a, b *float64, n int) { panic(noAssembly) }

func (l Level) vecScale(dst, a *float64, n int, c float64) { panic(noAssembly) }

func (l Level) vecAffine(dst, a *float64, n int, c, b, s float64) { panic(noAssembly) }

func (l Level) vecDot2(a, v, x *float64, n int) (sum, sumX float64) { panic(noAssembly) }

func (l Level) vecDot3(a, v, x, y *float64, n int) (sum, sumX, sumY float64) { panic(noAssembly) }

func (l Level) vecMatern12(v, f *float64, n int, c, variance float64) { panic(noAssembly) }

func (l Level) vecMatern12Grad(w, a, v, f *float64, n int, c float64) (sum, scale float64) {
	panic(noAssembly)
}

func (l Level) vecMatern32(v, f *float64, n int, c, variance float64) { panic(noAssembly) }

func (l Level) vecMatern32Grad(w, a, v, f *float64, n int, c float64) (sum, scale float64) {
	panic(noAssembly)
}

func (l Level) vecMatern52(v, f *float64, n int, c, variance float64) { panic(noAssembly) }

func (l Level) vecMatern52Grad(w, a, v, f *float64, n int, c float64) (sum, scale float64) {
	panic(noAssembly)
}

func (l Level) vecDeltas(dst *float64, segments *int32, n int, columns **float64, count int) {
	panic(noAssembly)
}

func (l Level) vecDistances(dst *float64, segments *int32, n int, columns **float64, count int) {
	panic(noAssembly)
}

func (l Level) vecProducts(dst *float64, segments *int32, n int, columns **float64, count int) {
	panic(noAssembly)
}

func (l Level) vecTurnSin(sin *float64, segments *int32, n int, columns **float64) { panic(noAssembly) }

func (l Level) vecTurn(sin, cos *float64, segments *int32, n int, columns **float64) {
	panic(noAssembly)
}
