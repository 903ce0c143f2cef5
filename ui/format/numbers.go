// Package format writes numbers, lengths of time and dates as they are read on the
// screen.
package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"example.com/kestrel/ui/plot"
)

// Digits writes a value with as many digits as people compare; a power of ten stands
// where it would have very many more.
func Digits(v float64) string {
	if v == 0 {
		return "0"
	}
	if size := math.Abs(v); size >= 1e5 {
		if text := Whole(v); text != "" {
			return text
		}
	}
	return plot.Minus(strconv.FormatFloat(v, 'g', 5, 64))
}

// Whole writes a value of up to nine digits to five of them, without a power of ten;
// "" for a larger one, or one that is smaller than 1.
func Whole(v float64) string {
	if size := math.Abs(v); size < 1 || size >= 1e9 {
		return ""
	}
	five, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	return plot.Minus(strconv.FormatFloat(five, 'f', -1, 64))
}

// Clock writes a length of time: 0:41, 12:05, 1:02:03.
func Clock(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// PerTime turns a unit per a power of a time, "K²/s²", into one per years, days or
// hours, whichever the data go over: the value is multiplied by size. The time's own
// unit is of so many seconds, and span is the range of the data in it. ok is false
// where the unit is not per that time, or is as people measure already.
func PerTime(unit, of string, seconds, span float64) (size float64, other string, ok bool) {
	over := span * seconds
	power := 0.0
	rest, found := "", false
	for n, sign := range []string{"", "²", "³"} {
		if r, cut := strings.CutSuffix(unit, "/"+of+sign); cut && of != "" {
			power, rest, found = float64(n+1), r+"/", true
			unit = sign
		}
	}
	name, each := "hour", anHour
	switch {
	case over >= 2*aYear:
		name, each = "year", aYear
	case over >= 2*aDay:
		name, each = "day", aDay
	}
	if !found || math.Abs(each/seconds-1) < 1e-6 || over < 2*anHour {
		return 1, unit, false
	}
	return math.Pow(each/seconds, power), rest + name + unit, true
}
