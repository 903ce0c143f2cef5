package prepare

import (
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/must"
)

// What a large checkpoint costs is told before the run starts: of K144 with 800 inducing inputs it has
// 144 lower triangles, three times as many with Adam's moments, and how often it is written is the
// config's.
func TestCheckpointNotice(t *testing.T) {
	for _, o := range []struct {
		optimizer  string
		inducing   int
		checkpoint float64
		want       []string
	}{
		{"natural", 800, -1, []string{"a checkpoint takes up to 370 MB", "of a core", "beside the work, at most every 60 s and at stops"}},
		{"adam", 800, 5, []string{"up to 1110 MB", "beside the work, at most every 5 s and at stops"}},
		{"natural", 800, 0, []string{"it is written after each evaluation, which waits for it"}},
		{"natural", 100, -1, nil},
		{"collapsed", 800, -1, nil},
	} {
		c := config.Default()
		c.Settings.Optimizer, c.Settings.Inducing, c.Checkpoint = o.optimizer, o.inducing, o.checkpoint
		bytes, err := checkpointBytes(&c, 144, 190_336)
		must.OK(t, err)
		want := int64(144 * o.inducing * (o.inducing + 1) / 2 * 8)
		switch o.optimizer {
		case "adam":
			want *= 3
		case "collapsed":
			want = 0
		}
		if bytes != want {
			t.Errorf("%+v: %d bytes, want %d", o, bytes, want)
		}
		text, err := checkpointNotice(&c, 144, 190_336)
		must.OK(t, err)
		if (text == "") != (o.want == nil) {
			t.Errorf("%+v: %q", o, text)
		}
		for _, part := range o.want {
			if !strings.Contains(text, part) {
				t.Errorf("%+v: no %q in %q", o, part, text)
			}
		}
	}
}
