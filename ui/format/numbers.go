// Package format writes numbers, lengths of time and dates as they are read on the
// screen.
package format

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Digits writes a value with as many digits as people compare.
func Digits(v float64) string {
	if v == 0 {
		return "0"
	}
	return strings.Replace(strconv.FormatFloat(v, 'g', 5, 64), "-", "−", 1)
}

// Clock writes a length of time: 0:41, 12:05, 1:02:03.
func Clock(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
