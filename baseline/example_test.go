package baseline_test

import (
	"fmt"

	"example.com/kestrel/baseline"
)

// What would be said of a weekly series by who knows nothing but the last week.
func ExampleSeasonalNaive() {
	s, err := baseline.NewSeries([]float64{1, 2, 3, 4, 5, 6}, []float64{7, 1, 4, 8, 2, 4})
	if err != nil {
		panic(err)
	}
	p, err := baseline.SeasonalNaive(s, 3, []float64{7, 8, 9, 10})
	if err != nil {
		panic(err)
	}
	for _, n := range p {
		fmt.Println(n.Mean)
	}
	// Output:
	// 8
	// 2
	// 4
	// 8
}
