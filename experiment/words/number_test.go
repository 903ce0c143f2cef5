package words

import (
	"math"
	"testing"
)

func TestSignificant(t *testing.T) {
	for want, v := range map[string]float64{"1220": 1219.6, "0.00123": 0.0012345, "123000": 123456, "1.23e+06": 1234567,
		"1.23e-06": 1.2345e-6, "0": 0, "-2.5": -2.5, "NaN": math.NaN()} {
		if got := Significant(v, 3); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}
