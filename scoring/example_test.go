package scoring_test

import (
	"fmt"

	"example.com/kestrel/scoring"
)

// A sharp forecast is better than a wide one while the target is near, and worse once it
// is not. Without any width the score is the absolute error.
func ExampleCRPS() {
	for _, y := range []float64{10, 14} {
		fmt.Printf("%.3f %.3f %.3f\n", scoring.CRPS(y, 10, 0), scoring.CRPS(y, 10, 1), scoring.CRPS(y, 10, 4))
	}
	// Output:
	// 0.000 0.234 0.935
	// 4.000 3.436 2.410
}
