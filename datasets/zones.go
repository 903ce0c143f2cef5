package datasets

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// ownZones are the zones of time stamps that are not all in one: from a value of the
// first input on, to the next, stamps are in a zone. What the clock says is known of the
// rows, not beyond them.
type ownZones struct {
	from  []float64
	zones []*time.Location
	last  float64 // row
}

// ownZones finds them by the offsets of the rows; nil: there is one.
func (d *Dataset) ownZones() *ownZones {
	if d.offsets == nil {
		return nil
	}
	rows := counted(d.N())
	d.sortByFirst(rows)
	z := &ownZones{}
	for i, r := range rows {
		z.last = d.X[int(r)*d.Dim]
		if i == 0 || d.offsets[r] != d.offsets[rows[i-1]] {
			z.from, z.zones = append(z.from, z.last), append(z.zones, stampForm{offset: int(d.offsets[r])}.zone())
		}
	}
	return z
}

// at is the zone of a value of the first input: that of the last row until then.
func (z *ownZones) at(v float64) *time.Location {
	i := sort.Search(len(z.from), func(i int) bool { return z.from[i] > v })
	return z.zones[max(0, i-1)]
}

// names lists the zones as offsets, each once.
func (z *ownZones) names() string {
	var names []string
	for _, zone := range z.zones {
		if name := time.Unix(0, 0).In(zone).Format("-07:00"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names[:min(len(names), 3)], ", ")
}

// knows returns an error where some value of the first input is not among the rows,
// which alone say what the clock is.
func (d *Dataset) knows(times []float64) error {
	z := d.zones
	if z == nil || len(z.zones) == 1 || !slices.ContainsFunc(times, func(v float64) bool { return v < z.from[0] || v > z.last }) {
		return nil
	}
	return fmt.Errorf("%s: its time stamps are in several zones (%s), so that data.calendar and data.holidays are not known "+
		"before and behind its rows; run it with data.zone, such as Europe/Zurich", d.file(), z.names())
}
