//go:build cuda

package cuda

import "example.com/kestrel/device"

// Launches is how many launches a lane has made.
func Launches(l device.Lane) int { return l.(*lane).serial }

// InvertFrom makes a lane's SolveBoth invert L from a size on.
func InvertFrom(l device.Lane, size int) { l.(*lane).inverts = size }

// LeastInverted is the size from which on it does.
const LeastInverted = leastInverted

// TallTiles says whether a lane's products may take tiles of 128 x 64.
func TallTiles(l device.Lane, may bool) { l.(*lane).tall = may }

// Tile is the rows of the tile that a lane takes for the product of m x k and k x n matrices.
func Tile(l device.Lane, m, n int, transA, transB bool, a, b device.Array) int {
	x, y := l.(*lane), func(v device.Array, trans bool) operand { return full(v.(*array), trans) }
	return x.tileOf(m, n, y(a, transA), y(b, transB)).rows
}
