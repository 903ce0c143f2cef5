package study

import (
	"testing"

	"example.com/kestrel/experiment/inside/disktest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// Whenever the power fails, a study knows the seeds whose rows were added, each with all
// of its local ELBOs and as they were, and no other.
func TestPowerFailsWhileAStudyGrows(t *testing.T) {
	c, base := toyCase(), t.TempDir()
	disk := disktest.New(t, base)
	d, err := disk.Files().Open(base)
	must.OK(t, err)
	defer d.Close()
	all, err := OpenTables(d, []*Case{c}, true)
	must.OK(t, err)
	rows, more := tableRows()
	for i := range rows {
		for k := range 40 { // several blocks of the disk
			rows[i].ELBOs = append(rows[i].ELBOs, KernelELBO{string(rune('a'+k%26)) + "-kernel", float64(-k) / 7})
		}
		more[i].ELBOs = rows[i].ELBOs
		must.OK(t, all[0].Add(rows[i]))
		disk.Mark(2*i + 1)
		must.OK(t, all[0].AddComparison(CompareStarts(rows[i], more[i]), more[i]))
		disk.Mark(2*i + 2)
	}
	must.OK(t, all[0].Close())
	disk.MustBeAll()
	draws := 10_000 / thorough.OneIn(t, 20, "losses of power")
	states := disk.Draw(draws, 1, func(t *testing.T, folder string, _ disktest.State, marks []any) {
		added := 0
		if len(marks) > 0 {
			added = marks[len(marks)-1].(int)
		}
		tables, err := openTables(t, folder, c, true)
		if err != nil {
			t.Error(err)
			return
		}
		defer tables.Close()
		for i := range rows {
			r, m := tables.Known(rows[i].Seed)
			if r == nil && added > 2*i || m == nil && added > 2*i+1 {
				t.Errorf("seed %d was added; row %v, with more starts %v", rows[i].Seed, r != nil, m != nil)
			}
			if r != nil && shown(t, r) != shown(t, rows[i]) {
				t.Errorf("row %d is\n%s, was\n%s", i, shown(t, r), shown(t, rows[i]))
			}
			if m != nil && len(m.ELBOs) != len(more[i].ELBOs) {
				t.Errorf("row %d has %d local ELBOs with more starts, had %d", i, len(m.ELBOs), len(more[i].ELBOs))
			}
		}
	})
	t.Logf("%d losses of power, %d states", draws, states)
}
