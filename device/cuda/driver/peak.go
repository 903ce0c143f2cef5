//go:build cuda

package driver

// Peak returns the FP64 operations a second of which a card is capable at its highest
// clock, a multiplication with an addition being two: by the tensor cores where these have
// FP64 instructions of their own, else by the plain ones. 0 where the driver says too little.
//
// FP32 units of a multiprocessor, and how many times faster FP64 tensor cores are, are from
// NVIDIA's CUDA C++ Programming Guide (throughput of native arithmetic instructions)
// and the architectures' white papers.
func (c CardInfo) Peak() float64 {
	if c.Ratio < 1 {
		return 0
	}
	units, tensor := 128.0, 1.0
	switch c.Arch() {
	case 70, 72, 75, 80:
		units = 64
	}
	switch c.Arch() {
	case 80, 90:
		tensor = 2
	}
	return 2 * float64(c.Multiprocessors) * units / float64(c.Ratio) * tensor * c.Clock
}

// Slow reports whether a card's FP64 is a small part of its FP32, as that of cards for
// games and screens.
func (c CardInfo) Slow() bool { return c.Ratio >= 8 }
