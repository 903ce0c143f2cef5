package kernelspace

import (
	"strings"
)

// base identifies a base kernel. The order of the constants is the order in
// which canonical expressions list leaves, so that they read like the paper's:
// PER, LIN, RQ, SE, then the base kernels beyond the paper.
type base uint8

const (
	basePER base = iota
	baseLIN
	baseRQ
	baseSE
	baseMatern12
	baseMatern32
	baseMatern52
	baseCOS
	basePoly2
	basePoly3
	basePoly4
	baseConst
	baseWhite
	numBases
)

// baseInfo describes a base kernel: its canonical name, its letter in the
// paper's legends (or a short name where the paper has none), other names
// that the parser takes, and how it compiles.
type baseInfo struct {
	name     string
	letter   string
	synonyms []string
	op       Op
	degree   int
	about    string
}

func (b base) info() baseInfo {
	switch b {
	case basePER:
		return baseInfo{name: "PER", letter: "p", synonyms: []string{"PERIODIC"}, op: OpPER,
			about: "periodic: σ² exp(−2 Σ_d sin²(π|x_d−x′_d|/p_d)/ℓ_d²)"}
	case baseLIN:
		return baseInfo{name: "LIN", letter: "l", synonyms: []string{"LINEAR"}, op: OpLIN,
			about: "linear: σ² x·x′/ℓ²"}
	case baseRQ:
		return baseInfo{name: "RQ", letter: "r", synonyms: []string{"RATQUAD", "RATIONALQUADRATIC"}, op: OpRQ,
			about: "rational quadratic: σ² (1 + r²/2αℓ²)^−α"}
	case baseSE:
		return baseInfo{name: "SE", letter: "s", synonyms: []string{"RBF", "SQEXP", "GAUSSIAN", "SQUAREDEXPONENTIAL"}, op: OpSE,
			about: "squared exponential: σ² exp(−r²/2ℓ²)"}
	case baseMatern12:
		return baseInfo{name: "MATERN12", letter: "m12", synonyms: []string{"MAT12", "EXPONENTIAL"}, op: OpMatern12,
			about: "Matérn 1/2: σ² exp(−r/ℓ)"}
	case baseMatern32:
		return baseInfo{name: "MATERN32", letter: "m32", synonyms: []string{"MAT32"}, op: OpMatern32,
			about: "Matérn 3/2: σ² (1 + √3 r/ℓ) exp(−√3 r/ℓ)"}
	case baseMatern52:
		return baseInfo{name: "MATERN52", letter: "m52", synonyms: []string{"MAT52"}, op: OpMatern52,
			about: "Matérn 5/2: σ² (1 + √5 r/ℓ + 5r²/3ℓ²) exp(−√5 r/ℓ)"}
	case baseCOS:
		return baseInfo{name: "COS", letter: "cos", synonyms: []string{"COSINE"}, op: OpCos,
			about: "cosine: σ² cos(2π Σ_d (x_d−x′_d)/p_d)"}
	case basePoly2:
		return baseInfo{name: "POLY2", letter: "poly2", synonyms: []string{"QUADRATIC"}, op: OpPoly, degree: 2,
			about: "polynomial: σ² (x·x′/ℓ² + c)²"}
	case basePoly3:
		return baseInfo{name: "POLY3", letter: "poly3", synonyms: []string{"CUBIC"}, op: OpPoly, degree: 3,
			about: "polynomial: σ² (x·x′/ℓ² + c)³"}
	case basePoly4:
		return baseInfo{name: "POLY4", letter: "poly4", synonyms: []string{"QUARTIC"}, op: OpPoly, degree: 4,
			about: "polynomial: σ² (x·x′/ℓ² + c)⁴"}
	case baseConst:
		return baseInfo{name: "CONST", letter: "c", synonyms: []string{"CONSTANT", "BIAS"}, op: OpConst,
			about: "constant: σ²"}
	case baseWhite:
		return baseInfo{name: "WN", letter: "w", synonyms: []string{"WHITE", "NOISE", "WHITENOISE"}, op: OpWhite,
			about: "white noise: σ² where both points are the same row, else 0"}
	}
	panic("kernelspace: not a base kernel")
}

// baseNamed finds a base kernel by name, letter or synonym, in any case.
func baseNamed(name string) (base, bool) {
	for b := range numBases {
		info := b.info()
		if strings.EqualFold(name, info.name) || strings.EqualFold(name, info.letter) {
			return b, true
		}
		for _, s := range info.synonyms {
			if strings.EqualFold(name, s) {
				return b, true
			}
		}
	}
	return 0, false
}

// BaseKernel describes one base kernel for help texts.
type BaseKernel struct {
	Name     string   // as canonical expressions write it
	Letter   string   // the paper's letter, or a short name
	Synonyms []string // also understood, in any case
	About    string   // name in words and formula
}

// BaseKernels lists all base kernels in canonical order.
func BaseKernels() []BaseKernel {
	all := make([]BaseKernel, 0, numBases)
	for b := range numBases {
		info := b.info()
		all = append(all, BaseKernel{Name: info.name, Letter: info.letter, Synonyms: info.synonyms, About: info.about})
	}
	return all
}
