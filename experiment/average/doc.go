// Package average has the middle of a few numbers, with NaN where there is none.
package average
