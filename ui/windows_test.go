package ui

import (
	"strings"
	"testing"

	"example.com/kestrel/experiment/record"
)

// A kernel's card tells evidence by windows before the local ELBO, as much as there is room for, and how far its gap may be off.
func TestEvidenceByWindowsIsShown(t *testing.T) {
	bounds := &record.Evidence{Lower: -9000, Upper: 7e5}
	k := &record.Fit{Rank: 2, ELBO: -9000, Evidence: bounds, Windows: &record.Windows{Nats: 480.25, Low: 1, High: 1.5, Rows: 30_000}}
	for w, want := range map[int]string{
		90: "evidence by windows 480.25 ± 1.25 · local ELBO −9000.00", 40: "evidence by windows 480.25 ± 1.25", 28: "evidence by windows 480.25",
	} {
		if got := elboText(k, 30_000, w); got != want {
			t.Errorf("%d columns: %q, want %q", w, got, want)
		}
	}
	leader := &record.Fit{Rank: 1, ELBO: -9500, Evidence: bounds, Windows: &record.Windows{Nats: 500, Low: .5, High: .75, Rows: 30_000}}
	if low, high, ok := gapRange(k, leader, k.Gap(leader)); !ok || low != -21.5 || high != -17.75 {
		t.Errorf("the gap lies between %v and %v, %v", low, high, ok)
	}
	if k.Windows = nil; strings.Contains(elboText(k, 30_000, 90), "windows") {
		t.Error(elboText(k, 30_000, 90))
	}
}
