package series

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/inside/disktest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// tiny is a config of a run that takes no time.
func tiny(t *testing.T) config.Config {
	return configtest.Small(t, "data.support=8", "data.outputs=24", "data.test=4", "kernels.expressions=SE,LIN", "sparse.inducing=4",
		"schedule.steps=1", "schedule.refine=0")
}

// Whenever the power fails, runs that were made are in their places, what is in the place
// of a run has come to its end with all its tables, and the same command goes on; what
// it makes of the rest is what it would have been.
func TestPowerFailsWhileASeriesIsMade(t *testing.T) {
	thorough.Unraced(t)
	const n = 2
	base := t.TempDir()
	disk, dir := disktest.New(t, base), filepath.Join("runs", "d")
	c := tiny(t)
	c.Disk = disk.Files()
	r, err := BeginRepeats(t.Context(), c, record.Course{}, n, filepath.Join(base, dir), func(string) {})
	must.OK(t, err)
	disk.Mark(0)
	want := make([]string, n+1)
	for i := 1; i <= n; i++ {
		must.OK(t, r.Make(t.Context(), i))
		disk.Mark(i)
		want[i] = r.Place(i)
	}
	must.OK(t, r.Close())
	disk.MustBeAll()
	every, judged := 40, 0
	draws := 1_000 / thorough.OneIn(t, 10, "losses of power")
	states := disk.Draw(draws, 1, func(t *testing.T, folder string, left disktest.State, marks []any) {
		made := -1
		if len(marks) > 0 {
			made = marks[len(marks)-1].(int)
		}
		c := tiny(t)
		r, err := BeginRepeats(t.Context(), c, record.Course{}, n, filepath.Join(folder, dir), func(string) {})
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { must.OK(t, r.Close()) }()
		if made > 0 && !r.Known {
			t.Error("it is not known that it was begun")
		}
		judged++
		for i := 1; i <= n; i++ {
			if !r.Finished(i) {
				if made >= i {
					t.Errorf("run %d was made", i)
				}
				if judged%every != 0 {
					continue
				}
				must.OK(t, r.Make(t.Context(), i))
			}
			sameRun(t, r.Place(i), want[i])
		}
	})
	t.Logf("%d losses of power, %d states", draws, states)
}

// sameRun fails the test unless a run has come to its end, with the same results.
func sameRun(t *testing.T, dir, want string) {
	t.Helper()
	var s record.Standing
	if err := record.Each(t.Context(), dir, s.Apply); err != nil || s.State != record.Finished || !s.Ended {
		t.Errorf("%s is in its place and %s: %v", dir, s.State, err)
		return
	}
	runtest.SameResults(t, dir, dir, want, want)
	for _, name := range []string{record.ModelFile, record.BaselinesFile, record.ConfigFile} {
		a, errA := os.ReadFile(filepath.Join(dir, name))
		b, errB := os.ReadFile(filepath.Join(want, name))
		if errA != nil || errB != nil || len(a) != len(b) {
			t.Errorf("%s has %d bytes, want %d: %v, %v", filepath.Join(dir, name), len(a), len(b), errA, errB)
		}
	}
	d, err := inside.Open(dir)
	must.OK(t, err)
	defer d.Close()
	if saved, err := rundir.ReadCheckpoint(d); err != nil || saved == nil {
		t.Errorf("%s has the checkpoint %v, %v", dir, saved, err)
	}
}

// Whenever the power fails, a table that grows has all rows that were written, whole,
// and no other.
func TestPowerFailsWhileATableGrows(t *testing.T) {
	base := t.TempDir()
	disk := disktest.New(t, base)
	d, err := disk.Files().Open(base)
	must.OK(t, err)
	defer d.Close()
	header := []string{"a", "b"}
	row := func(life, i int) []string { // of several blocks of the disk
		return []string{fmt.Sprint(i), strings.Repeat(fmt.Sprintf("text of\nlife %d, %d", life, i), 20+60*(i%2))}
	}
	var all [][]string
	for life := range 3 { // it is closed and opened again, and the last row left out
		table, err := OpenTable(d, "t.csv", header)
		must.OK(t, err)
		if n := len(table.Records); n > 0 {
			table.Leave(n - 1)
			all = all[:n-1]
			disk.Mark(slices.Clone(all))
		}
		must.OK(t, table.Settle(d))
		for range 4 {
			rows := [][]string{row(life, len(all)), row(life, len(all)+1)}
			must.OK(t, table.Write(rows))
			all = append(all, rows...)
			disk.Mark(slices.Clone(all))
		}
		must.OK(t, table.Close())
	}
	disk.MustBeAll()
	draws := 10_000 / thorough.OneIn(t, 5, "losses of power")
	states := disk.Draw(draws, 1, func(t *testing.T, folder string, left disktest.State, marks []any) {
		var written [][]string
		if len(marks) > 0 {
			written = marks[len(marks)-1].([][]string)
		}
		d, err := inside.Open(folder)
		must.OK(t, err)
		defer d.Close()
		table, err := OpenTable(d, "t.csv", header)
		if err != nil {
			t.Error(err)
			return
		}
		defer table.Close()
		if len(table.Records) < len(written) {
			t.Errorf("%d rows are left of %d", len(table.Records), len(written))
		}
		for i, cells := range table.Records {
			if i < len(written) && slices.Equal(cells, written[i]) {
				continue
			}
			if i < len(written) || !slices.ContainsFunc([]int{0, 1, 2}, func(life int) bool { return slices.Equal(cells, row(life, i)) }) {
				t.Errorf("row %d is %q", i, cells)
			}
		}
	})
	t.Logf("%d losses of power, %d states", draws, states)
}
