package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// WithUnit writes a number for reading, with its unit unless that is "".
func WithUnit(v float64, unit string) string {
	s := Significant(v, 3)
	if unit != "" {
		s += " " + unit
	}
	return s
}

// Labelled joins a name and its unit, which the name may have at its end itself.
func Labelled(name, unit string) string {
	switch {
	case name == "":
		return unit
	case unit == "", strings.HasSuffix(name, "("+unit+")"), strings.HasSuffix(name, "["+unit+"]"):
		return name
	}
	return name + " (" + unit + ")"
}

// Megabytes is a size in MB, from 2 GB on in GB; of more than two digits it says no more.
func Megabytes(bytes int64) string {
	switch mb := float64(bytes) / 1e6; {
	case mb >= 2000:
		return fmt.Sprintf("%.1f GB", mb/1000)
	case mb >= 100:
		return fmt.Sprintf("%.0f MB", 10*math.Ceil(mb/10))
	default:
		return fmt.Sprintf("%.0f MB", math.Ceil(mb))
	}
}

// Significant writes a number with so many digits, without an exponent where it
// can be read without.
func Significant(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'g', digits, 64)
	if abs := math.Abs(v); abs >= 1e-3 && abs < 1e6 {
		if rounded, err := strconv.ParseFloat(s, 64); err == nil {
			return strconv.FormatFloat(rounded, 'f', -1, 64)
		}
	}
	return s
}

// Join joins names: "a, b and c".
func Join(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// Unbroken are the words of a text as lines may be broken between them: a number keeps
// its %.
func Unbroken(text string) []string {
	fields := strings.Fields(text)
	out := fields[:0]
	for _, f := range fields {
		if n := len(out); n > 0 && strings.HasPrefix(f, "%") {
			out[n-1] += " " + f
			continue
		}
		out = append(out, f)
	}
	return out
}
