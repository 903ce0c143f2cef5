//go:build !race

package vbks

const racing = false
