// Package backtest forecasts from the past of series what is known by now: from
// several origins, with a run for each and with every baseline, and says how good the
// forecasts were.
package backtest
