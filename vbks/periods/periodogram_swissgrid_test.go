//go:build !race

package periods

import (
	"math/rand/v2"
	"testing"

	"github.com/ulikunitz/xz"
)

// Six years of quarter hours, a tenth of them held out at random: year, week
// and day without being told. Nothing runs concurrently here, and unpacking
// takes long under the race detector.
func TestPeriodsOfSwissgrid(t *testing.T) {
	if testing.Short() {
		t.Skip("190,000 rows")
	}
	r, err := xz.NewReader(sharedData(t, "swissgrid/total-consumption-15min-2009-2014.csv.xz"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 3))
	x, y := readSeries(t, r, 2, func(int) bool { return rng.Float64() < 190336./210336 })
	// Rows come shuffled.
	rng.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i]; y[i], y[j] = y[j], y[i] })
	peaks := Find(x, y, Options{Max: 4})
	t.Log(len(x), "rows:", peaks)
	wantPeriod(t, peaks, 365.25, 0.05, 3)
	wantPeriod(t, peaks, 7, 0.01, 3)
	wantPeriod(t, peaks, 1, 0.01, 3)
}
