// Package device says where the matrices of a run live and what can be done
// with them. The algorithms of package vbks are written once against it.
//
// A Device has lanes. A lane is an ordered queue with memory of its own:
// operations are executed in the order of the calls, perhaps after the call
// has returned; Read and Sync wait. A lane is used by one goroutine at a
// time; different lanes are independent.
//
// Matrices come in batches (Array): one matrix per kernel of a group, all of
// one shape. Every operation names the members of the batch that it concerns
// (sub, ascending, without repetition); the others are neither read nor
// written. What an operation leaves in one member never depends on which
// other members are named: a kernel's result is the same alone and in a batch
// of hundreds.
//
// Operations do not return errors: shapes that do not fit are programmer
// errors and panic; numerical failure (a matrix that is not positive definite)
// is recorded per member in an info array, so that the host need not wait
// inside a step; failures of the device itself are kept and returned by the
// next Read or Sync. Two of these a caller can do something about, ErrOutOfMemory
// and ErrLost; errors.Is finds them below whatever the device says.
package device

import (
	"errors"
	"fmt"

	"example.com/kestrel/kernelspace"
)

var (
	// ErrOutOfMemory is a lane without room for what was asked. It goes on
	// working; what was under way when it was told is undefined.
	ErrOutOfMemory = errors.New("out of memory")
	// ErrLost is a lane that will not work again, and whose arrays are gone. The
	// other lanes are not concerned.
	ErrLost = errors.New("lost")
)

// Info describes a device.
type Info struct {
	Kind    string // "cpu", "cuda"
	Name    string // e.g. "AMD EPYC, 2 cores"
	Lanes   int    // number of lanes
	Group   int    // kernels that a lane likes to work on at a time; 0: as many as there are
	Memory  uint64 // bytes that a lane can hold; 0: not limited by the device
	Details string // one line for people

	// Arithmetic is what the last digits of results depend on, beside the kind: the instruction
	// set, or the architecture of the cards with what their kernels are compiled by.
	Arithmetic string
}

// Device is one kind of machine: all cores of a CPU, or all cards.
type Device interface {
	Info() Info
	// Lane returns lane i, 0 <= i < Info().Lanes.
	Lane(i int) Lane
	// NewData places n rows of dim inputs (row-major) and n targets (nil for
	// none) where all lanes can read them. The slices must not be modified
	// afterwards.
	NewData(x, y []float64, dim int) (Data, error)
	Close() error
}

// Data is a set of points on a device.
type Data interface {
	Rows() int
	Dim() int
}

// Scaler is a device that keeps a factor a_i with each row of its data, for rows that
// count for more or less than others. Wherever these rows stand in Kernel, KernelDiag
// and their gradients,
//
//	k(z, x_i) a_i,   a_i k(x_i, x_j) a_j,   a_i² k(x_i, x_i)
//
// take the place of the kernel's values: the process seen there is a_i f(x_i). Targets
// are as they are given.
type Scaler interface {
	// NewScaledData is NewData with a factor above 0 for each row.
	NewScaledData(x, y, scale []float64, dim int) (Data, error)
}

// ErrScales is below the error of a device that keeps no factors with rows.
var ErrScales = errors.New("rows of different weight are computed on the CPU alone")

// NewScaled places rows with factors on a device, and without (nil) where there are none.
func NewScaled(dev Device, x, y, scale []float64, dim int) (Data, error) {
	if scale == nil {
		return dev.NewData(x, y, dim)
	}
	s, ok := dev.(Scaler)
	if !ok {
		return nil, fmt.Errorf("data: %w, not on %s", ErrScales, dev.Info().Kind)
	}
	return s.NewScaledData(x, y, scale, dim)
}

// CountRows returns the number of rows that NewData was given, or an error where
// x, y and dim do not fit together.
func CountRows(x, y []float64, dim int) (int, error) {
	if dim < 1 {
		return 0, fmt.Errorf("data: %d input columns, want at least 1", dim)
	}
	if len(x)%dim != 0 {
		return 0, fmt.Errorf("data: %d inputs are not rows of %d columns", len(x), dim)
	}
	n := len(x) / dim
	if y != nil && len(y) != n {
		return 0, fmt.Errorf("data: %d targets for %d rows", len(y), n)
	}
	return n, nil
}

// Points selects rows of a Data: rows Index[From:To] where Index is not nil,
// else rows From, ..., To−1.
type Points struct {
	Data     Data  // of which they are rows
	Index    Index // nil: in their order
	From, To int   // of Index, or of Data; To is not among them
}

// Len returns the number of points selected.
func (p Points) Len() int { return p.To - p.From }

// All selects every row of d.
func All(d Data) Points { return Points{Data: d, To: d.Rows()} }

// Index is a list of row numbers on a lane.
type Index interface{ Len() int }

// Array is a batch of matrices on a lane, row-major, one per kernel of a
// group. Its shape may be changed within the capacity that it was made with.
type Array interface {
	Shape() (count, rows, cols int)
	// Reshape gives every member the shape rows x cols and leaves its content
	// undefined. It panics if rows*cols exceeds the capacity.
	Reshape(rows, cols int)
}

// Kernels is a batch of compiled expressions on a lane, one per kernel of the
// group, at most as many as the arrays used with it have members. Its
// parameter vectors have Params() entries per kernel, the longest of the batch;
// the last entry, at Params()−1, is the noise variance σ_n².
type Kernels interface {
	Params() int
	// Free returns the length of a free vector, the longest of the batch: the
	// logarithms of the free parameters and, last at Free()−1, ρ where
	// σ_n² = floor + exp(ρ), unless they are bounded (kernelspace.Known).
	Free() int
}

// Jitter says what is added to the diagonal of k(Z,Z):
//
//	ε = Relative · mean diagonal + Absolute
type Jitter struct{ Relative, Absolute float64 }

// Lane is an ordered queue of operations.
//
// Shapes are written count x (rows x cols); K is the number of kernels in the
// group, M the number of inducing inputs, B the number of rows, P =
// Kernels.Params(), F = Kernels.Free(). Triangular matrices are lower and
// stored with zeros above the diagonal.
type Lane interface {
	// NewArray makes a zeroed batch of count matrices of rows x cols.
	NewArray(count, rows, cols int) (Array, error)
	// NewIndex copies row numbers to the lane.
	NewIndex(rows []int32) (Index, error)
	// NewKernels makes a batch of compiled expressions. An expression that the
	// lane has no code for is an error here (see CheckCode), never a number later.
	NewKernels(programs []*kernelspace.Program) (Kernels, error)
	// Free gives the memory of an Array, Index or Kernels back. It must not be
	// used afterwards.
	Free(things ...any)

	// Write copies src to member k; len(src) is rows*cols.
	Write(a Array, k int, src []float64)
	// Read waits for the lane and copies member k to dst.
	Read(a Array, k int, dst []float64) error
	// Sync waits until everything asked for is done.
	Sync() error

	// Copy copies src to dst, which takes its shape.
	Copy(sub []int, dst, src Array)
	// Fill sets every entry of a.
	Fill(sub []int, a Array, value float64)
	// Transpose stores srcᵀ in dst, which takes its shape. dst is not src.
	Transpose(sub []int, dst, src Array)
	// AddScaled computes dst += alpha * src, entry by entry.
	AddScaled(sub []int, dst Array, alpha float64, src Array)
	// AddDiagonal computes a += value * I.
	AddDiagonal(sub []int, a Array, value float64)
	// Triangle keeps the lower triangle of a square matrix, multiplies its
	// diagonal by diag, and zeroes the rest: with diag = ½ it is Φ.
	Triangle(sub []int, a Array, diag float64)

	// Expand computes raw parameters from free vectors: theta (K x (1 x P))
	// gets exp(free) at the free places, 1 at the others and floor + exp(ρ) as the
	// noise variance; but what programs know of these (kernelspace.Known): their values
	// where they are fixed, between their limits where they are bounded. free is K x (1 x F).
	Expand(sub []int, ks Kernels, noiseFloor float64, free, theta Array)
	// Collect is the chain rule of Expand: gradFree = ∂/∂free from gradTheta,
	// which holds ∂/∂log θ for the kernel parameters and ∂/∂σ_n² (not its
	// logarithm) for the noise variance.
	Collect(sub []int, ks Kernels, noiseFloor float64, theta, gradTheta, gradFree Array)

	// Kernel computes the matrices k(a,b), count x (a.Len() x b.Len()), into
	// out, which takes that shape. Where a and b select the same rows of the
	// same Data the matrix is symmetric and white noise is on its diagonal.
	// out may keep, out of sight, what KernelGrad can use again.
	Kernel(sub []int, ks Kernels, theta Array, a, b Points, out Array)
	// KernelDiag computes k(x,x) for every point, count x (1 x a.Len()).
	KernelDiag(sub []int, ks Kernels, theta Array, a Points, out Array)
	// KernelGrad adds to gradTheta (K x (1 x P)) for every parameter of the
	// kernel, not the noise,
	//
	//	Σ_ij bar_ij ∂k(a_i,b_j)/∂log θ.
	//
	// k is the array that Kernel filled for the same arguments, unchanged
	// since. bar need not be symmetric.
	KernelGrad(sub []int, ks Kernels, theta Array, a, b Points, k, bar, gradTheta Array)
	// KernelDiagGrad adds Σ_i bar_i ∂k(a_i,a_i)/∂log θ; bar is K x (1 x a.Len()).
	KernelDiagGrad(sub []int, ks Kernels, theta Array, a Points, bar, gradTheta Array)
	// KernelInputGrad adds to gradA (K x (a.Len() x dim))
	//
	//	Σ_j bar_ij ∂k(a_i,b_j)/∂a_i,
	//
	// where b is held fixed, also if it selects the same points.
	KernelInputGrad(sub []int, ks Kernels, theta Array, a, b Points, bar, gradA Array)
	// AddJitter adds ε to the diagonal of k(Z,Z); factor, K x (1 x 1),
	// multiplies ε for each member (1 where nothing escalated).
	AddJitter(sub []int, kzz Array, j Jitter, factor Array)
	// JitterGrad is AddJitter's chain rule: it adds to the diagonal of bar,
	// which holds ∂/∂(k(Z,Z)+εI), what the relative part of ε contributes.
	JitterGrad(sub []int, bar Array, j Jitter, factor Array)

	// Gemm computes c = alpha op(a) op(b) + beta c; c must have its shape if
	// beta is not 0, else takes it. With beta = 0 the old content of c is not
	// read.
	Gemm(sub []int, transA, transB bool, alpha float64, a, b Array, beta float64, c Array)
	// GemmLower computes the lower triangle of alpha op(a) op(b) into the square
	// c, with zeros above.
	GemmLower(sub []int, transA, transB bool, alpha float64, a, b, c Array)
	// MulLower computes c = C b, or Cᵀ b if trans, for a lower triangular C. c is
	// neither of them and takes the shape of b.
	MulLower(sub []int, trans bool, lower, b, c Array)
	// Syrk computes c = alpha a aᵀ + beta c, both triangles; c is as in Gemm.
	Syrk(sub []int, alpha float64, a Array, beta float64, c Array)
	// Cholesky replaces a symmetric matrix, of which the lower triangle is read,
	// by its lower factor with zeros above. Where it is not positive definite
	// (or not finite), info (K x (1 x 1)), if it was 0, gets 1 plus the index of
	// the pivot, and a becomes the identity, so that what follows stays finite.
	Cholesky(sub []int, a, info Array)
	// Solve replaces b by L⁻¹ b, or by L⁻ᵀ b if trans.
	Solve(sub []int, trans bool, l, b Array)
	// SolveBoth replaces a symmetric s, of which the lower triangle is read, by
	// the symmetric L⁻ᵀ s L⁻¹.
	SolveBoth(sub []int, l, s Array)
	// Inverse stores the symmetric L⁻ᵀL⁻¹ in s, which takes L's shape.
	Inverse(sub []int, l, s Array)
	// LogDiag computes Σ_j log a_jj into out (K x (1 x 1)).
	LogDiag(sub []int, a, out Array)

	SVGP
	Collapsed
	Stepper
}

// Repeater is a lane that finds out what it has been asked for before, and then asks its device for
// all of it at once.
type Repeater interface {
	// Repeats says that what is asked for until end is called is a step on the minibatch x, of a kind
	// that is made many times: the next ones' minibatches begin elsewhere, and Adam has counted on. What
	// is computed is the same.
	Repeats(x Points) (end func())
}

// Repeats does so for a lane that is a Repeater.
func Repeats(l Lane, x Points) (end func()) {
	if r, ok := l.(Repeater); ok {
		return r.Repeats(x)
	}
	return func() {}
}

// Occupier is a lane that has a core of its own, which its device lends to other lanes
// while it has nothing to do.
type Occupier interface {
	// Occupy says that the lane is at work from now on, also between its operations, until
	// leave is called. Operations of a lane that is not are carried out like any others.
	Occupy() (leave func())
}

// Occupy does so for a lane that is an Occupier.
func Occupy(l Lane) (leave func()) {
	if o, ok := l.(Occupier); ok {
		return o.Occupy()
	}
	return func() {}
}

// SVGP holds the fused steps of the uncollapsed local ELBO on a batch of B
// rows (design: "Local ELBO"). n is the number of rows that the batch stands
// for, w = n/(Bσ_n²).
type SVGP interface {
	// Predict computes for every point the mean μ = Aᵀm and the variance
	// v = k(x,x) − colsum A² + colsum (CᵀA)² of f, each K x (1 x B), from
	// A = L⁻¹k(Z,X) and CA = CᵀA (M x B), m (M x 1) and kdiag (1 x B).
	Predict(sub []int, a, ca, m, kdiag, mu, v Array)
	// Likelihood computes the residuals r = y − μ (K x (1 x B)), adds to value
	// (K x (1 x 1)) the expected log likelihood
	//
	//	(n/B) Σ_b [ log N(y_b; μ_b, σ_n²) − v_b/2σ_n² ]
	//
	// and to the last entry of gradTheta its derivative by σ_n²,
	//
	//	(n/B) Σ_b [ (r_b² + v_b)/2σ_n⁴ − 1/2σ_n² ].
	//
	// gradTheta may be nil.
	Likelihood(sub []int, ks Kernels, theta Array, x Points, n float64, mu, v, r, value, gradTheta Array)
	// RowLikelihood computes the same per row, not scaled: out (K x (1 x B)) =
	// log N(y_b; μ_b, σ_n²) − v_b/2σ_n².
	RowLikelihood(sub []int, ks Kernels, theta Array, x Points, mu, v, out Array)
	// ABar computes Ā = w [m rᵀ + A − SA] into sa, which holds SA (M x B).
	ABar(sub []int, ks Kernels, theta Array, n float64, m, r, a, sa Array)
	// Weight multiplies every entry of a (any shape) by scale·n/(Bσ_n²) where
	// B is given by rows.
	Weight(sub []int, ks Kernels, theta Array, n float64, rows int, scale float64, a Array)
	// GaussKL subtracts from value KL[N(m, CCᵀ) ‖ N(0, I)] and adds its
	// gradients: gradM −= m, gradC −= tril(C − C⁻ᵀ). gradM and gradC may be nil.
	GaussKL(sub []int, m, c, value, gradM, gradC Array)
}

// Collapsed holds the fused steps of Titsias' bound. With A = L⁻¹k(Z,X) over
// all n rows, Q = AAᵀ (M x M) and b = Ay (M x 1):
//
//	B = I + Q/σ_n² = L_B L_Bᵀ
//	bound = −n/2 log 2πσ_n² − Σ_j log (L_B)_jj − yᵀy/2σ_n² + |L_B⁻¹b|²/2σ_n⁴
//	        − (Σ k(x,x) − tr Q)/2σ_n²
//
// and the optimal q(v) = N(m, S) has S = B⁻¹ and m = Sb/σ_n².
type Collapsed interface {
	// MulTargets computes out = alpha A y + beta out, (M x 1); y are the targets of x.
	MulTargets(sub []int, alpha float64, a Array, x Points, beta float64, out Array)
	// Precision computes out = I + weight·Q/σ_n².
	Precision(sub []int, ks Kernels, theta Array, weight float64, q, out Array)
	// Bound adds the bound (without log p(θ)) to value, from the factor lb of
	// Precision, solved = L_B⁻¹b (M x 1), Q, the sum of k(x,x) (K x (1 x 1)), the
	// number of rows and yᵀy.
	Bound(sub []int, ks Kernels, theta Array, n, yy float64, lb, solved, q, sumDiag, value Array)
	// Residual computes r = y − Kᵀβ (1 x B) for k(Z,X) (M x B), β (M x 1).
	Residual(sub []int, x Points, kzx, beta, r Array)
	// BarKzx computes out = (β rᵀ + out)/σ_n² where out holds P k(Z,X) (M x B).
	BarKzx(sub []int, ks Kernels, theta Array, beta, r, out Array)
	// Sum adds the sum of a's entries to out (K x (1 x 1)); squares: of their squares.
	Sum(sub []int, squares bool, a, out Array)
	// Dot adds Σ a∘b to out (K x (1 x 1)).
	Dot(sub []int, a, b, out Array)
	// NoiseGrad adds to the last entry of gradTheta
	//
	//	(sumR2 + sumV)/2σ_n⁴ − n/2σ_n²,
	//
	// with sumR2 = Σ r² and sumV = Σ v over the n rows, each K x (1 x 1).
	NoiseGrad(sub []int, ks Kernels, theta Array, n float64, sumR2, sumV, gradTheta Array)
}

// Stepper holds the updates of the stochastic optimisers, whose state stays on
// the device.
type Stepper interface {
	// Adam makes step t (counted from 1) of Kingma and Ba's Adam (2015,
	// algorithm 1; β₁ = 0.9, β₂ = 0.999, ε = 1e-8) uphill on x (any shape)
	// along grad, with moments m1, m2 of the same shape. stride, of the same
	// shape or nil for ones, multiplies the rate entry by entry.
	Adam(sub []int, t int, rate float64, stride, x, grad, m1, m2 Array)
	// AdamLower is Adam on lower triangular matrices; nothing above the diagonal
	// is touched.
	AdamLower(sub []int, t int, rate float64, x, grad, m1, m2 Array)
	// LogPrior adds to value the log density of independent normals with means
	// mean and precisions prec (all K x (1 x F); precision 0: no prior), less
	// wall·(excess)²/2 for every entry of x outside [lo, hi], and to grad its
	// gradient. The normals' constants are included. grad may be nil.
	LogPrior(sub []int, x, mean, prec, lo, hi Array, wall float64, value, grad Array)
	// Sample computes x = mean + C η for a column η (F x 1; mean and x 1 x F, C F x F lower).
	Sample(sub []int, mean, c, eta, x Array)
	// SampleGrad is its chain rule: gradMean += gradX, gradC += tril(gradXᵀ ηᵀ).
	SampleGrad(sub []int, gradX, eta, gradMean, gradC Array)
}
