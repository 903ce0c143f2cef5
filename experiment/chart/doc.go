// Package chart draws figures as SVG, PNG and tables. It knows lines, bands, points,
// cells and colours, and no run.
package chart
