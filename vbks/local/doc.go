// Package local predicts rows of one dense series from the rows about them: a Gaussian
// process that conditions each row on few neighbours (Vecchia 1988; Datta, Banerjee, Finley
// and Gelfand 2016), beside it in time and whole periods away, about means by phase. It
// knows nothing of kernels that are searched for and of their sparse approximations.
package local
