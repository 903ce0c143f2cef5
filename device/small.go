package device

// SmallSteps is a lane that makes many steps of an optimiser in one operation, for matrices so
// small that a step's operations take less time than asking for them. Both report false, with
// nothing done, where M or B are too large; that depends on nothing else, so that a kernel is
// treated the same in every group. What steps leave does not depend on how many are made
// at once.
type SmallSteps interface {
	// AdamSteps makes steps of Adam on (m, C, log θ, ρ).
	AdamSteps(sub []int, s *AdamRun) bool
	// NaturalSteps makes natural steps of q(v), some of which move (log θ, ρ) by Adam.
	NaturalSteps(sub []int, s *NaturalRun) bool
}

// SmallRun says which steps are to be made, on the uncollapsed local ELBO: each as Expand, Kernel
// and so on to Collect and LogPrior compute its gradient, and Adam follows it. Arrays of one
// shape have the same capacity. The inducing inputs are no rows of X's data.
type SmallRun struct {
	Kernels Kernels
	Z       Points  // inducing inputs
	X       Points  // the first minibatch, B rows
	Skip    int     // places from one minibatch to the next; 0: all are the same rows
	Steps   int     // at least 1
	N       float64 // rows that a minibatch stands for
	Taken   []int   // steps of Adam made before, by place in sub
	Rate    float64

	NoiseFloor float64
	Jitter     Jitter
	Factor     Array // of the jitter, K x (1 x 1)

	Free, FreeM1, FreeM2, Stride Array // free vectors, their moments, Adam's stride: K x (1 x F)
	PriorMean, PriorPrec, Lo, Hi Array // see LogPrior: K x (1 x F)
	Wall                         float64

	Belief *SmallBelief // q(log θ), which θ is drawn from; nil: point estimates
	Failed Array        // K x (1 x 1): what Cholesky would tell of each factorisation is added
}

// SmallBelief is q(log θ) = N(mean, CCᵀ), of which a step that moves it draws θ once: the free vector is
// mean + Cη then and stays so until the next draw. Adam's steps on mean and C follow the gradient by that sample
// and KL[q(log θ) ‖ N(PriorMean, Scale⁻²)] in the place of log p(θ): PriorPrec is 0. FreeM1, FreeM2 and Stride are the
// mean's.
type SmallBelief struct {
	Mean                 Array            // K x (1 x F)
	Chol, CholM1, CholM2 Array            // C, lower: K x (F x F)
	CholStride, Scale    Array            // K x (F x F); Scale is diagonal, of roots of precisions
	Diagonal             bool             // C stays so
	Fresh                []bool           // by place in sub: the first step draws θ, whatever it moves
	Draw                 func() []float64 // η for each step, place in sub and entry; asked for once, where steps are made
}

// AdamRun is steps of Adam, with q(v) = N(m, CCᵀ) held by its factor.
type AdamRun struct {
	SmallRun
	Mean, MeanM1, MeanM2 Array // m: K x (M x 1)
	Chol, CholM1, CholM2 Array // C: K x (M x M)
	Value                Array // K x (1 x 1): gets the objective where the last step began
}

// NaturalRun is natural steps, with q(v) held by its precision: on the minibatch X of B
// rows, with A = L⁻¹k(Z,X) and w = N/(Bσ_n²),
//
//	Λ ← (1−γ)Λ + γ(I + wAAᵀ)     Λm ← (1−γ)Λm + γwAy     γ = max(B/(seen + B), Least)
//
// and seen grows by B, up to N. Step t, counted from First, moves θ where t+1 is a multiple of
// Every and seen has come to Warm, along the gradient at the q(v) before.
type NaturalRun struct {
	SmallRun
	Lambda      Array     // K x (M x M)
	LambdaM     Array     // K x (M x 1)
	Seen        []float64 // rows that q(v) rests on, by place in sub
	First       int
	Every       int // 0: none moves θ
	Warm, Least float64
}
