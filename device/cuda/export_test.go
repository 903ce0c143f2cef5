//go:build cuda

package cuda

import "example.com/kestrel/device"

// Launches is how many launches a lane has made.
func Launches(l device.Lane) int { return l.(*lane).serial }

// InvertFrom makes a lane's SolveBoth invert L from a size on.
func InvertFrom(l device.Lane, size int) { l.(*lane).inverts = size }

// LeastInverted is the size from which on it does.
const LeastInverted = leastInverted
