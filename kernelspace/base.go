package kernelspace

import (
	"math"
	"slices"
	"strings"
)

// This file is all that the package knows of single base kernels, but for SE
// being a limit of RQ. A new one gets an operation, a place in the order and a row
// of the table; a device without code for its operation refuses it.

// Op names what an instruction of a Program does: evaluate one base kernel
// or combine the results of earlier instructions.
type Op uint8

// The leaf operations come first so that Op < OpAdd means "a leaf".
const (
	OpSE       Op = iota // σ² exp(−r²/2ℓ²)
	OpRQ                 // σ² (1 + r²/2αℓ²)^−α
	OpLIN                // σ² x·x′/ℓ²
	OpPER                // σ² exp(−2 Σ_d sin²(π|x_d−x′_d|/p_d)/ℓ_d²)
	OpMatern12           // σ² exp(−r/ℓ)
	OpMatern32           // σ² (1 + √3 r/ℓ) exp(−√3 r/ℓ)
	OpMatern52           // σ² (1 + √5 r/ℓ + 5r²/3ℓ²) exp(−√5 r/ℓ)
	OpWhite              // σ² if both points are the same row of the same set, else 0
	OpConst              // σ²
	OpPoly               // σ² (x·x′/ℓ² + c)^Degree
	OpCos                // σ² cos(2π Σ_d (x_d−x′_d)/p_d)
	OpRW                 // σ² Σ_d m_d, see randomWalk
	OpIRW                // σ² Σ_d m_d²(3M_d − m_d)/6, see integratedRandomWalk
	OpCat                // σ² if all columns are the same, else 0
	OpStep               // nothing: place and width of the OpChange that takes it as its first operand
	OpLevels             // σ² if the column is the same, else σ² c c′ with c = exp(−1/2ℓ²) of either level
)

// ByLevel reports whether an operation takes columns as levels of a category: between two of them
// there is nothing.
func (o Op) ByLevel() bool { return o == OpCat || o == OpLevels }

// Radial reports whether an operation is a function of r/ℓ, so that its length scale means the same as another's.
func (o Op) Radial() bool {
	switch o {
	case OpSE, OpRQ, OpMatern12, OpMatern32, OpMatern52:
		return true
	}
	return false
}

// What combines is numbered far from the leaves, between which and OpAdd lie
// operations that nobody has code for.
const (
	OpAdd    Op = 0x80 + iota // sum of the Arity topmost results
	OpMul                     // product of the Arity topmost results
	OpChange                  // CP(A,B) of the three topmost, a step, A and B
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
	baseRW
	baseIRW
	basePoly2
	basePoly3
	basePoly4
	baseCAT
	baseConst
	baseWhite
	numBases
	baseStep = numBases // of no name that the parser takes
)

// scaling says what the length scales of a base kernel are.
type scaling uint8

const (
	scaleNone      scaling = iota // there are none
	scaleInput                    // lengths that x − x′ is measured in
	scalePhase                    // numbers without a unit
	scaleAmplitude                // they enter as x·x′/ℓ² only, which the variance scales, too
	scaleLevel                    // numbers without a unit, one for each level, where "ard" asks for them
)

// baseInfo describes a base kernel: its canonical name, its letter in the
// paper's legends (or a short name where the paper has none), other names
// that the parser takes, what it is in words, how it compiles, its hyperparameters beside the
// variance, and its formula.
type baseInfo struct {
	name     string
	letter   string
	synonyms []string
	about    string
	plain    string // what functions it stands for, for who knows no formulas
	op       Op
	degree   int
	scale    scaling
	periods  bool   // has a period per column
	shape    string // name of the one parameter behind scales and periods, "" for none
	power    int    // of x that a variance is per, where it is: 1 for σ²·x
	value    func(l leafAt) float64
}

var bases = [numBases + 1]baseInfo{
	basePER: {
		name: "PER", letter: "p", synonyms: []string{"PERIODIC"},
		about: "periodic: σ² exp(−2 Σ_d sin²(π|x_d−x′_d|/p_d)/ℓ_d²)",
		plain: "a pattern that repeats after its period",
		op:    OpPER, scale: scalePhase, periods: true, value: periodic,
	},
	baseLIN: {
		name: "LIN", letter: "l", synonyms: []string{"LINEAR"},
		about: "linear: σ² x·x′/ℓ²",
		plain: "a straight line",
		op:    OpLIN, scale: scaleAmplitude, value: linear,
	},
	baseRQ: {
		name: "RQ", letter: "r", synonyms: []string{"RATQUAD", "RATIONALQUADRATIC"},
		about: "rational quadratic: σ² (1 + r²/2αℓ²)^−α",
		plain: "variation on many scales at once",
		op:    OpRQ, scale: scaleInput, shape: nameAlpha, value: rationalQuadratic,
	},
	baseSE: {
		name: "SE", letter: "s", synonyms: []string{"RBF", "SQEXP", "GAUSSIAN", "SQUAREDEXPONENTIAL"},
		about: "squared exponential: σ² exp(−r²/2ℓ²)",
		plain: "smooth variation",
		op:    OpSE, scale: scaleInput, value: squaredExponential,
	},
	baseMatern12: {
		name: "MATERN12", letter: "m12", synonyms: []string{"MAT12", "EXPONENTIAL"},
		about: "Matérn 1/2: σ² exp(−r/ℓ)",
		plain: "rough variation that comes back to its mean",
		op:    OpMatern12, scale: scaleInput, value: matern12,
	},
	baseMatern32: {
		name: "MATERN32", letter: "m32", synonyms: []string{"MAT32"},
		about: "Matérn 3/2: σ² (1 + √3 r/ℓ) exp(−√3 r/ℓ)",
		plain: "variation between rough and smooth",
		op:    OpMatern32, scale: scaleInput, value: matern32,
	},
	baseMatern52: {
		name: "MATERN52", letter: "m52", synonyms: []string{"MAT52"},
		about: "Matérn 5/2: σ² (1 + √5 r/ℓ + 5r²/3ℓ²) exp(−√5 r/ℓ)",
		plain: "rather smooth variation",
		op:    OpMatern52, scale: scaleInput, value: matern52,
	},
	baseCOS: {
		name: "COS", letter: "cos", synonyms: []string{"COSINE"},
		about: "cosine: σ² cos(2π Σ_d (x_d−x′_d)/p_d)",
		plain: "a wave as round as a sine",
		op:    OpCos, periods: true, value: cosine,
	},
	baseRW: {
		name: "RW", letter: "rw", synonyms: []string{"WIENER", "RANDOMWALK"},
		about: "random walk: σ² Σ_d min(u_d,v_d) with u, v = |x+h|, |x′+h| on one side of −h, else 0",
		plain: "a level that wanders and need not come back",
		op:    OpRW, shape: nameOrigin, power: 1, value: randomWalk,
	},
	baseIRW: {
		name: "IRW", letter: "irw", synonyms: []string{"IWIENER", "INTEGRATEDRANDOMWALK"},
		about: "integrated random walk: σ² Σ_d m_d²(3M_d−m_d)/6 with m, M = min, max of u, v as in RW",
		plain: "a slope that wanders: trends that bend",
		op:    OpIRW, shape: nameOrigin, power: 3, value: integratedRandomWalk,
	},
	basePoly2: {
		name: "POLY2", letter: "poly2", synonyms: []string{"QUADRATIC"},
		about: "polynomial: σ² (x·x′/ℓ² + c)²",
		plain: "a parabola",
		op:    OpPoly, degree: 2, scale: scaleAmplitude, shape: nameOffset, value: polynomial,
	},
	basePoly3: {
		name: "POLY3", letter: "poly3", synonyms: []string{"CUBIC"},
		about: "polynomial: σ² (x·x′/ℓ² + c)³",
		plain: "a cubic curve",
		op:    OpPoly, degree: 3, scale: scaleAmplitude, shape: nameOffset, value: polynomial,
	},
	basePoly4: {
		name: "POLY4", letter: "poly4", synonyms: []string{"QUARTIC"},
		about: "polynomial: σ² (x·x′/ℓ² + c)⁴",
		plain: "a quartic curve",
		op:    OpPoly, degree: 4, scale: scaleAmplitude, shape: nameOffset, value: polynomial,
	},
	baseCAT: {
		name: "CAT", letter: "cat", synonyms: []string{"CATEGORY", "LEVELS"},
		about: "levels of a category, none nearer to another: σ² where both points have the same, else 0; " +
			"with [a;ard] else σ² exp(−1/2ℓ²−1/2ℓ′²)",
		plain: "levels of a text, each with an effect of its own",
		op:    OpCat, scale: scaleLevel, value: category,
	},
	baseConst: {
		name: "CONST", letter: "c", synonyms: []string{"CONSTANT", "BIAS"},
		about: "constant: σ²",
		plain: "a constant level",
		op:    OpConst, value: constant,
	},
	baseWhite: {
		name: "WN", letter: "w", synonyms: []string{"WHITE", "NOISE", "WHITENOISE"},
		about: "white noise: σ² where both points are the same row, else 0",
		plain: "noise of each row by itself",
		op:    OpWhite, value: white,
	},
	baseStep: {name: nameChange, letter: "cp", op: OpStep},
}

func (b base) info() *baseInfo { return &bases[b] }

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
	Plain    string   // what functions it stands for, without a formula
}

// BaseKernels lists all base kernels in canonical order.
func BaseKernels() []BaseKernel {
	all := make([]BaseKernel, 0, numBases)
	for b := range numBases {
		info := b.info()
		all = append(all, BaseKernel{
			Name: info.name, Letter: info.letter, Synonyms: slices.Clone(info.synonyms), About: info.about, Plain: info.plain,
		})
	}
	return all
}

func periodic(l leafAt) float64 {
	sum := 0.0
	for i, d := range l.cols {
		s := math.Sin(math.Pi*math.Abs(l.x[d]-l.y[d])/entry(l.periods, i)) / entry(l.scales, i)
		sum += s * s
	}
	return l.variance * math.Exp(-2*sum)
}

func linear(l leafAt) float64 { return l.variance * l.innerProduct() }

// rationalQuadratic takes (1 + z)^−α by log1p, which keeps its digits as α grows
// and z falls.
func rationalQuadratic(l leafAt) float64 {
	return l.variance * math.Exp(-l.shape*math.Log1p(l.squaredDistance()/(2*l.shape)))
}

func squaredExponential(l leafAt) float64 {
	return l.variance * math.Exp(-l.squaredDistance()/2)
}

func matern12(l leafAt) float64 {
	return l.variance * math.Exp(-math.Sqrt(l.squaredDistance()))
}

func matern32(l leafAt) float64 {
	r := math.Sqrt(3 * l.squaredDistance())
	return l.variance * (1 + r) * math.Exp(-r)
}

func matern52(l leafAt) float64 {
	r2 := 5 * l.squaredDistance()
	r := math.Sqrt(r2)
	return l.variance * (1 + r + r2/3) * math.Exp(-r)
}

func cosine(l leafAt) float64 {
	sum := 0.0
	for i, d := range l.cols {
		sum += (l.x[d] - l.y[d]) / entry(l.periods, i)
	}
	return l.variance * math.Cos(2*math.Pi*sum)
}

// randomWalk is a Wiener process to both sides of the origin o = −h, where it is 0,
// along every column: with u = |x − o|, v = |x′ − o| its covariance is min(u, v) where
// both are on one side, else 0. σ² is the variance of the change over one unit of x.
func randomWalk(l leafAt) float64 {
	sum := 0.0
	for _, d := range l.cols {
		if u, v := l.x[d]+l.shape, l.y[d]+l.shape; u > 0 == (v > 0) {
			sum += min(math.Abs(u), math.Abs(v))
		}
	}
	return l.variance * sum
}

// integratedRandomWalk is the integral of randomWalk from the origin on, the prior of
// cubic smoothing splines (Wahba 1978; Rasmussen and Williams 2006, section 6.3.1),
//
//	σ² ∫₀ᵘ ∫₀ᵛ min(s, t) ds dt = σ² m²(3M − m)/6,   m, M = min, max(u, v)
//
// σ² is the variance of the slope's change over one unit of x.
func integratedRandomWalk(l leafAt) float64 {
	sum := 0.0
	for _, d := range l.cols {
		if u, v := l.x[d]+l.shape, l.y[d]+l.shape; u > 0 == (v > 0) {
			m, most := min(math.Abs(u), math.Abs(v)), max(math.Abs(u), math.Abs(v))
			sum += m * m * (3*most - m) / 6
		}
	}
	return l.variance * sum
}

func polynomial(l leafAt) float64 {
	return l.variance * math.Pow(l.innerProduct()+l.shape, float64(l.degree))
}

// category has an effect for each level, independent with variance σ², as random effects
// have (Searle, Casella and McCulloch, Variance Components, 1992, chapter 1). Levels whose
// effects, or functions, are alike to some extent (compound symmetry, with correlation ρ) need
// nothing of their own: CAT[g]+CONST has ρ = σ_c²/(σ_c²+σ²), and so has what it is a factor of. Of
// several columns the levels are their combinations.
//
// With a length for each level two of them have σ² c c′, c = exp(−1/2ℓ²): what SE with ARD lengths has
// over a column of 0 and 1 for each level. It is one factor that all have in common, with a loading c of
// each, beside an own part of 1 − c². Of a value that is none of the levels c is 0.
func category(l leafAt) float64 {
	for _, d := range l.cols {
		if l.x[d] != l.y[d] {
			return l.variance * (l.loading(l.x[d]) * l.loading(l.y[d]))
		}
	}
	return l.variance
}

// loading is c of a level.
func (l *leafAt) loading(v float64) float64 {
	i := slices.Index(l.levels, v)
	if i < 0 {
		return 0
	}
	return math.Exp(-0.5 / (l.scales[i] * l.scales[i]))
}

func constant(l leafAt) float64 { return l.variance }

func white(l leafAt) float64 {
	if l.same {
		return l.variance
	}
	return 0
}
