//go:build !race

package cli

const racing = false
