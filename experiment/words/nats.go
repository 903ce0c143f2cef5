package words

import (
	"fmt"
	"math"
)

// Nats writes a difference of local ELBOs in at most eight characters.
func Nats(v float64) string {
	switch a := math.Abs(v); {
	case a < 0.005:
		return "0"
	case a < 10:
		return fmt.Sprintf("%.2f", v)
	case a < 1000:
		return fmt.Sprintf("%.1f", v)
	case a < 1e6:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1e", v)
}
