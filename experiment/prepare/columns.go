package prepare

import (
	"math"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/average"
)

// ColumnInfo describes an input or the target over all rows of the data.
type ColumnInfo struct {
	datasets.Column
	Low, High float64
	Median    float64
}

// mostFrequent is the value that occurs most often, of several the least.
func mostFrequent(values []float64) (most float64) {
	count := map[float64]int{}
	for _, v := range values {
		count[v]++
	}
	for v, n := range count {
		if n > count[most] || n == count[most] && v < most {
			most = v
		}
	}
	return most
}

// columnInfos describes the inputs and the target.
func columnInfos(d *datasets.Dataset) []ColumnInfo {
	var out []ColumnInfo
	describe := func(c datasets.Column, values []float64) {
		info := ColumnInfo{Column: c, Low: math.Inf(1), High: math.Inf(-1), Median: average.Median(values)}
		for _, v := range values {
			info.Low, info.High = min(info.Low, v), max(info.High, v)
		}
		out = append(out, info)
	}
	for j, c := range d.Inputs {
		values := make([]float64, d.N())
		for r := range values {
			values[r] = d.Row(r)[j]
		}
		describe(c, values)
		if c.Categorical() { // between levels there is nothing
			out[j].Median = mostFrequent(values)
		}
	}
	describe(d.Target, d.Y)
	return out
}
