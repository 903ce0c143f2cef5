// Package svgtest reads drawn figures back, for tests.
package svgtest
