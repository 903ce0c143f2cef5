// Package vbks is variational Bayesian kernel selection for sparse Gaussian
// process regression (Teng, Chen, Zhang and Low, AAAI 2020): the local ELBO of
// every kernel and its gradients, the optimisers, the belief q(g) over kernels,
// and prediction by averaging over kernels. It knows no files and no screens:
// numbers come in as slices, standardised, and go out as plain structs.
package vbks
