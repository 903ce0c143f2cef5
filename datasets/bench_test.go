package datasets

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"
)

// bigTable has n rows of three columns at full precision.
func bigTable(n int, stamps bool) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	var b bytes.Buffer
	b.WriteString("a,b,y\n")
	line := make([]byte, 0, 100)
	at := time.Date(2009, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		line = line[:0]
		if stamps {
			line = at.Add(time.Duration(i)*15*time.Minute).AppendFormat(line, "2006-01-02T15:04Z")
		} else {
			line = strconv.AppendFloat(line, rng.NormFloat64(), 'g', -1, 64)
		}
		line = strconv.AppendFloat(append(line, ','), rng.Float64()*1e6, 'g', -1, 64)
		line = strconv.AppendFloat(append(line, ','), rng.NormFloat64(), 'g', -1, 64)
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// heapPeak samples the heap while f runs and returns its largest size in MB.
func heapPeak(f func()) float64 {
	runtime.GC()
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		most := uint64(0)
		for {
			metrics.Read(s)
			most = max(most, s[0].Value.Uint64())
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	return float64(<-peak) / 1e6
}

// BenchmarkMillionRows loads 1,000,000 rows x 3 columns; the target is under
// 3 s and under 200 MB of heap on one core.
func BenchmarkMillionRows(b *testing.B) {
	for _, stamps := range []bool{false, true} {
		b.Run(fmt.Sprintf("stamps=%v", stamps), func(b *testing.B) {
			path := writeFile(b, "big.csv", string(bigTable(1_000_000, stamps)))
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			peak := 0.0
			for b.Loop() {
				peak = max(peak, heapPeak(func() {
					if d, err := Load(context.Background(), Spec{Path: path, TestFraction: .1}); err != nil || d.N() != 1_000_000 {
						b.Fatal(err)
					}
				}))
			}
			b.ReportMetric(peak, "MB-peak")
		})
	}
}

// TestLoadAllocatesLittle guards the fast path: a row must not allocate.
func TestLoadAllocatesLittle(t *testing.T) {
	path := writeFile(t, "some.csv", string(bigTable(20_000, true)))
	allocs := testing.AllocsPerRun(1, func() { mustLoad(t, Spec{Path: path}) })
	if allocs > 10_000 {
		t.Errorf("%v allocations for 20,000 rows", allocs)
	}
}
