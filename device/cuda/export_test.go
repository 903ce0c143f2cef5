//go:build cuda

package cuda

import "example.com/kestrel/device"

// Launches is how many launches a lane has made.
func Launches(l device.Lane) int { return l.(*lane).serial }
