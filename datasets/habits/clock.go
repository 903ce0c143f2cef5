package habits

import (
	"math"
	"slices"
	"time"
)

// Zone is a clock that people live by.
type Zone struct {
	Name string // of the IANA, whose summer time it is; others may have the same
	// Changes of that clock lie in the series with days enough before and behind them, of which Followed moved
	// the days by as much.
	Changes, Followed int
}

// Clocks names one zone for each rule of summer time that many live by and each hour that noon may be at.
func Clocks() []string {
	return []string{
		"Europe/London", "Europe/Berlin", "Europe/Athens",
		"America/Halifax", "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles",
		"America/Mexico_City", "America/Sao_Paulo", "America/Santiago",
		"Australia/Adelaide", "Australia/Sydney", "Pacific/Auckland",
	}
}

const (
	aside       = 14 // days on each side of a change are compared
	fewestAside = 6  // of these, working days that are whole
	untouched   = 21 // days, at least, between a change and the weekends that it is compared with
	// A change is followed if days move by its hour more plainly than at this share of other weekends, and than at
	// all of those from three to eight weeks before and behind it, when the sun rises and sets about as much sooner or later
	// from day to day.
	plain         = 0.95
	nearWeeks     = 8
	fewestChanges = 3
	followed      = 0.75 // of the changes
	fewestOthers  = 20   // weekends that nothing changes at
	night         = 4.2  // the hour at which people are least awake: of the loads of three countries and a region 4.2 to 4.3
)

// FindZone looks for the summer time of a series of values y at seconds since 1970 UTC: a clock by which the
// hours of working days move where it is put on and back. At a change at day t two profiles are compared, medians
// over the working days of two weeks of what hour h has more than its day's mean, before (b) and behind (a):
//
//	s = ln Σ (a[h] − b[h])² − ln Σ (a[h] − b[h + δ])²,   δ = +1 h where the clock is put on, −1 h where back
//
// s > 0 where the hour explains the difference, and s of weekends without a change, with the same δ, says how
// large it is by chance, by the season, or, of those some weeks off, by the sun. The last change each way must be among
// those that are followed: a rule that was given up tells nothing of the time to come. Of clocks that change on the same
// days it takes the one by which the least hour is nearest to a quarter past four. ok is false where none is followed
// plainly, which is so of what does not go by people, of people without summer time, and of days not seen by the hour.
func FindZone(at, y []float64) (found Zone, ok bool) {
	d, ok := byHour(at, y, nil)
	if !ok {
		return found, false
	}
	best, off := 0.0, 0.0
	for _, name := range Clocks() {
		zone, err := time.LoadLocation(name)
		if err != nil {
			continue
		}
		s, z := d.follows(zone)
		if z.Changes < fewestChanges || z.Followed < fewestChanges || float64(z.Followed) < followed*float64(z.Changes) {
			continue
		}
		z.Name = name
		if far := d.night(zone); found.Name == "" || s > best || s == best && far < off {
			found, best, off = z, s, far
		}
	}
	return found, found.Name != ""
}

// follows returns by how much more on average the changes of a zone's clock explain what is different behind
// them than nothing does, and how many of them do so plainly; none where the last ones do not.
func (d *days) follows(zone *time.Location) (mean float64, z Zone) {
	changes := d.changes(zone)
	type weekend struct {
		day int64
		s   float64
	}
	var other [2][]weekend // where the clock is not put back, and where it is not put on
	for k := (6 - weekday(d.first)) % 7; k < len(d.hours); k += 7 {
		day := d.first + int64(k)
		if slices.ContainsFunc(changes, func(c change) bool { return max(c.day-day, day-c.day) < untouched }) {
			continue
		}
		for i, shift := range []int{-1, 1} {
			if s, ok := d.moved(day, shift); ok {
				other[i] = append(other[i], weekend{day, s})
			}
		}
	}
	if min(len(other[0]), len(other[1])) < fewestOthers {
		return 0, z
	}
	var last [2]bool
	for _, c := range changes {
		s, ok := d.moved(c.day, c.shift)
		if !ok {
			continue
		}
		z.Changes++
		mean += s
		way := (c.shift + 1) / 2
		below, near := 0, true
		for _, o := range other[way] {
			switch {
			case o.s < s:
				below++
			case max(c.day-o.day, o.day-c.day) <= 7*nearWeeks+1:
				near = false
			}
		}
		last[way] = s > 0 && near && float64(below) >= plain*float64(len(other[way]))
		if last[way] {
			z.Followed++
		}
	}
	if !last[0] || !last[1] {
		z.Followed = 0
	}
	return mean / float64(max(1, z.Changes)), z
}

// change is a day, since 1970, at which a clock is put on by so many hours.
type change struct {
	day   int64
	shift int
}

// changes are those of a zone among the days, by an hour.
func (d *days) changes(zone *time.Location) []change {
	low, high := float64(d.first*daySeconds), float64((d.first+int64(len(d.hours)))*daySeconds)
	c := clockOf(zone, low, high)
	var out []change
	for i := 1; i < len(c.from); i++ {
		if shift := c.offset[i] - c.offset[i-1]; math.Abs(shift) == 3600 {
			out = append(out, change{floorDay(c.from[i]), int(shift) / 3600})
		}
	}
	return out
}

// moved returns s of FindZone at a day; ok is false where days are missing about it.
func (d *days) moved(day int64, shift int) (s float64, ok bool) {
	c := change{day, shift}
	m, asked := d.asked[c]
	if !asked {
		if d.asked == nil {
			d.asked = map[change]move{}
		}
		m.s, m.ok = d.compare(day, shift)
		d.asked[c] = m
	}
	return m.s, m.ok
}

// move is what moved has returned: most days are asked for by each zone.
type move struct {
	s  float64
	ok bool
}

func (d *days) compare(day int64, shift int) (s float64, ok bool) {
	k := int(day - d.first)
	before, ok1 := d.profile(k-aside, k-1)
	behind, ok2 := d.profile(k+2, k+1+aside) // the day itself and the rest of it by another clock are neither
	if !ok1 || !ok2 {
		return 0, false
	}
	var as, moved, all float64
	for h := range behind {
		e := behind[h] - before[h]
		as += e * e
		e = behind[h] - before[(h+shift+dayHours)%dayHours]
		moved += e * e
		all += behind[h]*behind[h] + before[h]*before[h]
	}
	const least = 1e-6 // of the squares: what repeats exactly is no infinite evidence
	if all == 0 {
		return 0, false
	}
	return math.Log((as + least*all) / (moved + least*all)), true
}

// profile is, for each hour, the median over the whole working days from one to another of what it has more
// than its day's mean.
func (d *days) profile(from, to int) (p [dayHours]float64, ok bool) {
	if from < 0 || to >= len(d.hours) {
		return p, false
	}
	var more [dayHours][]float64
	for k := from; k <= to; k++ {
		if weekday(d.first+int64(k)) > 4 {
			continue
		}
		mean := 0.0
		for _, v := range d.hours[k] {
			mean += v / dayHours
		}
		if math.IsNaN(mean) || math.IsInf(mean, 0) {
			continue
		}
		for h, v := range d.hours[k] {
			more[h] = append(more[h], v-mean)
		}
	}
	if len(more[0]) < fewestAside {
		return p, false
	}
	for h := range p {
		p[h] = median(more[h])
	}
	return p, true
}

// night returns how many hours the least hour of working days, by a zone's clock, is from a quarter past four.
func (d *days) night(zone *time.Location) float64 {
	low, high := float64(d.first*daySeconds), float64((d.first+int64(len(d.hours)))*daySeconds)
	c := clockOf(zone, low, high)
	var sums [dayHours]float64
	part := 0.0
	for k := range d.hours {
		day := d.first + int64(k)
		p, ok := d.profile(k, k+aside-1)
		if !ok || weekday(day) != 0 { // each week once
			continue
		}
		ahead := (c.local(float64(day)*daySeconds) - float64(day)*daySeconds) / 3600
		part = ahead - math.Floor(ahead) // of an hour, the same at all times
		for h, v := range p {
			sums[((h+int(math.Floor(ahead)))%dayHours+dayHours)%dayHours] += v
		}
	}
	least, smallest := 0, math.Inf(1)
	for h, v := range sums {
		if v < smallest {
			least, smallest = h, v
		}
	}
	at := float64(least) + 0.5 + part
	l, r := sums[(least+dayHours-1)%dayHours]-smallest, sums[(least+1)%dayHours]-smallest
	if l+r > 0 {
		at += (l - r) / (l + r) / 2 // of the parabola through three hours
	}
	far := math.Abs(at - night)
	return min(far, dayHours-far)
}
