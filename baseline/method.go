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
	About   string                                                      // what it does, for who has not heard of it
	Predict func(s *Series, season int, at []float64) ([]Normal, error) // one for each of at
}

// Forecasts are the methods for inputs beyond the last training input.
func Forecasts() []Method {
	return []Method{
		{"naive", "naive", "all that comes is as the last row", Naive},
		{"snaive", "seasonal naive", "all that comes is as it was a season ago: this Monday as the last", SeasonalNaive},
		{"drift", "random walk with drift", "the line through the first and the last row goes on", Drift},
		{"theta", "Theta", "half a straight trend, half a smoothed level, of the series without its season; won the M3 competition", Theta},
		{"ets", "exponential smoothing", "level, trend and season as means that forget what is long ago", ETS},
	}
}

// Fillings are the methods for inputs between training inputs.
func Fillings() []Method {
	return []Method{
		{"linear", "linear interpolation", "the line between the neighbours of a gap", Interpolate},
		{"phase", "mean of the season's phase", "the mean of all rows at the same place of the season: of all Mondays", PhaseMean},
	}
}

// OfSeasons is Means, for a series with several seasons, of which slow is the one that has waves,
// in steps, if that is not 0; Predict has a season whose phases have means.
func OfSeasons(slow float64) Method {
	return Method{"means", "means by season", "the mean of all rows at the same time of the week, and of the year in two waves", func(
		s *Series, season int, at []float64,
	) ([]Normal, error) {
		return Means(s, season, slow, at)
	}}
}
