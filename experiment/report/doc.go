// Package report writes a run as one HTML page: its beliefs, its kernels in words, fit,
// residuals, calibration and settings.
package report
