// Package study finds out how often the kernel that generated data is selected, and
// what more starts would still find.
package study
