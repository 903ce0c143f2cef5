//go:build race

package cli

// racing: the race detector watches, and all takes ten times as long.
const racing = true
