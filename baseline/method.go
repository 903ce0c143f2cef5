// Package baseline predicts one series as would be done without kernels: what follows
// its end by naive forecasts, Theta and exponential smoothing, what is missing within
// it by interpolation and means; and tables by least squares. It knows numbers only; each
// prediction is a normal.
package baseline

// Normal is the prediction of a target: N(Mean, SD²), in the unit of the targets.
type Normal struct{ Mean, SD float64 }

// Method predicts the targets at inputs, in any order, from a series. Season is the
// number of steps after which it repeats itself; 0 or 1: none. Errors say why the
// method cannot be applied.
type Method struct {
	Name    string                                                      // for tables and flags
	Label   string                                                      // for people
	Predict func(s *Series, season int, at []float64) ([]Normal, error) // one for each of at
}

// Forecasts are the methods for inputs beyond the last training input.
func Forecasts() []Method {
	return []Method{
		{"naive", "naive", Naive},
		{"snaive", "seasonal naive", SeasonalNaive},
		{"drift", "random walk with drift", Drift},
		{"theta", "Theta", Theta},
		{"ets", "exponential smoothing", ETS},
	}
}

// Fillings are the methods for inputs between training inputs.
func Fillings() []Method {
	return []Method{
		{"linear", "linear interpolation", Interpolate},
		{"phase", "mean of the season's phase", PhaseMean},
	}
}
