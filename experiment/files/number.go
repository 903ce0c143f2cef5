package files

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// FormatFloat writes a number in full precision.
func FormatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Number is a float64 that JSON can hold whatever its value: what is not finite
// is written as null, and null is read as NaN.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements json.Unmarshaler. It also takes the texts "NaN", "+Inf"
// and "-Inf", which older event logs have in the place of null.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", s)
		}
		*n = Number(f)
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// String writes the number in full precision.
func (n Number) String() string { return FormatFloat(float64(n)) }

// Known writes a number in full precision, and text where it is NaN.
func (n Number) Known(text string) string {
	if math.IsNaN(float64(n)) {
		return text
	}
	return n.String()
}

// Format writes a number as fmt does, and "-" where it is NaN.
func (n Number) Format(format string) string {
	if math.IsNaN(float64(n)) {
		return "-"
	}
	return fmt.Sprintf(format, float64(n))
}
