// Package datasets brings data into the program: delimited text tables, plain
// or compressed, time stamps, the Swissgrid consumption series and the
// synthetic functions of Teng et al. (2020); it splits them into a stream of
// training rows and held-out test rows, and standardises them both ways.
//
// Load makes a Dataset from a Spec, OpenPoints reads further points in the
// same units, NewScaler fits the standardisation, Describe summarises.
package datasets
