package experiment

import (
	"errors"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/internal/must"
)

// A mistake of the program comes with its stack from a run that has no log; what a run fails by of itself is told to the
// recorder alone.
func TestCompleteTellsMistakes(t *testing.T) {
	for _, c := range []struct {
		fail    func(int) error
		mistake bool
		reason  string
	}{
		{func(int) error { panic("out of range") }, true, "internal error, please report it with the run's log.txt: out of range"},
		{func(int) error { return errors.New("no kernel is left") }, false, "no kernel is left"},
	} {
		job, err := prepare.Prepare(t.Context(), configtest.Small(t))
		must.OK(t, err)
		f := newFake(3, "SE")
		f.fail = c.fail
		job.Trainer = f
		var end record.Standing
		err = Complete(t.Context(), job, record.RecorderFunc(func(e *record.Event) error {
			end.Apply(e)
			return nil
		}))
		var p *guard.PanicError
		if told := errors.As(err, &p); told != c.mistake || told && (p.Value != "out of range" || len(p.Stack) == 0) || !told && err != nil {
			t.Errorf("%s: %v", c.reason, err)
		}
		if end.State != record.Failed || end.Reason != c.reason {
			t.Errorf("%s, %q", end.State, end.Reason)
		}
		must.OK(t, job.Close())
	}
}
