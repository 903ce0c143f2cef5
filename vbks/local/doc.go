// Package local predicts rows of one dense series, or of a table, from the rows that tell most of
// them: a Gaussian process that conditions each row on few neighbours (Vecchia 1988; Datta,
// Banerjee, Finley and Gelfand 2016), in a series beside it in time and whole periods away, about
// means by phase, in a table those that it is most like, about a plane. It knows nothing of
// kernels that are searched for and of their sparse approximations.
package local
