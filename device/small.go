package device

// SmallSteps is a lane that makes many steps of an optimiser in one operation, for matrices so
// small that a step's operations take less time than asking for them.
type SmallSteps interface {
	// AdamSteps makes steps of Adam for the members sub. It reports false, with nothing done,
	// where M or B are too large; that depends on nothing else, so that a kernel is treated
	// the same in every group. What steps leave does not depend on how many are made at
	// once.
	AdamSteps(sub []int, s *AdamRun) bool
}

// AdamRun says which steps of Adam are to be made, on the uncollapsed local ELBO with
// q(v) = N(m, CCᵀ): each as Expand, Kernel and so on to Collect and LogPrior compute its
// gradient, and Adam and AdamLower follow it. Arrays of one shape have the same capacity.
type AdamRun struct {
	Kernels Kernels
	Z       Points  // inducing inputs
	X       Points  // the first minibatch, B rows
	Skip    int     // places from one minibatch to the next, in X's index; 0: all are the same rows
	Steps   int     // at least 1
	N       float64 // rows that a minibatch stands for
	Taken   []int   // steps made before, by place in sub
	Rate    float64

	NoiseFloor float64
	Jitter     Jitter
	Factor     Array // of the jitter, K x (1 x 1)

	Free, FreeM1, FreeM2, Stride Array // free vectors, their moments, Adam's stride: K x (1 x F)
	PriorMean, PriorPrec, Lo, Hi Array // see LogPrior: K x (1 x F)
	Wall                         float64
	Mean, MeanM1, MeanM2         Array // m: K x (M x 1)
	Chol, CholM1, CholM2         Array // C: K x (M x M)

	Failed Array // K x (1 x 1): what Cholesky would tell of each step is added
	Value  Array // K x (1 x 1): gets the objective where the last step began
}
