//go:build !race

package experiment_test

// racing: whether the race detector watches, and all takes ten times as long.
const racing = false
