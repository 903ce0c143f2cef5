package experiment

import (
	"errors"
	"fmt"
	"io"
)

// past is what the event log of a run says that matters when it is taken up
// again, and where the log is cut.
type past struct {
	saved *saved // nil: there is no checkpoint, it begins with the first evaluation
	start *Start // nil: the first event cannot be read
	kept  int64  // bytes of the log that stay
	size  int64  // of the log
	lost  bool   // the log ends right before the event that the checkpoint rests on

	stays    Standing // after the events that stay
	all      Standing // after all
	told     []string // notices that stay, since what is believed was last revised
	done     int      // orders that the checkpoint rests on; the others are given again
	repeated int      // evaluations that are cut
	notices  []string // of what was found while reading
	now      *Start   // as it is here and now
}

// readPast reads a log from its beginning. With a checkpoint, what stands
// before the event that it rests on must be what it was. Where all is to be
// done again, damage only ends it. unsaved says why there is no checkpoint, if
// that is not for its being missing.
func readPast(path string, s *saved, unsaved error, again bool) (*past, error) {
	file, err := openEvents(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("run %q cannot be read: %w", path, err)
	}
	p := &past{saved: s, size: info.Size()}
	known, cut := int64(0), false
	if s != nil {
		known = s.rest.after.bytes
	}
	d := newEventDecoder(file)
	begin := int64(0)
	for {
		e, err := d.next()
		var damage *damagedLine
		switch {
		case err == nil:
		case err == io.EOF:
		case errors.As(err, &damage) && (begin >= known || again):
			p.notices = append(p.notices, fmt.Sprintf("%s: %v; it and what stands behind it are cut", eventsFile, err))
			err = io.EOF
		default:
			return nil, fmt.Errorf("run %q: %s: %w", path, eventsFile, err)
		}
		if err == io.EOF {
			break
		}
		cut = cut || begin >= known && e.redone()
		p.take(e, cut, begin < known)
		begin = d.read
		if !cut {
			p.kept = begin
		}
	}
	if torn := p.size - begin; torn > 0 && len(p.notices) == 0 {
		p.notices = append(p.notices, fmt.Sprintf("the last line of %s was torn; its %d bytes are cut", eventsFile, torn))
	}
	if again {
		p.kept, p.stays, p.told, p.repeated = 0, Standing{}, nil, p.all.Made
		return p, nil
	}
	return p, p.check(path, begin, unsaved)
}

// redone reports whether the event is done again if no checkpoint holds it.
func (e *Event) redone() bool {
	return e.Evaluation != nil || e.Type == EventReoptimised
}

// take takes an event in. It is cut or stays; certain says that a checkpoint
// rests on it.
func (p *past) take(e *Event, cut, certain bool) {
	if e.Type == EventStarted && p.start == nil {
		p.start = e.Start
	}
	p.all.Apply(e)
	if certain {
		p.done = len(p.all.Orders)
	}
	if cut {
		if e.Type == EventEvaluation {
			p.repeated++
		}
		return
	}
	p.stays.Apply(e)
	switch {
	case e.Evaluation != nil:
		p.told = nil
	case e.Type == EventNotice:
		p.told = append(p.told, e.Notice)
	}
}

// orders are those that are given again.
func (p *past) orders() []Order { return p.all.Orders[p.done:] }

// errComplete is below the error of a run of which nothing is left to be done.
var errComplete = errors.New("needs no resuming")

// check finds what keeps a run from being resumed; end is where the log's last
// whole line ends.
func (p *past) check(path string, end int64, unsaved error) error {
	s := p.saved
	switch {
	case p.start == nil && end == 0:
		return fmt.Errorf("run %q ended before it began: its %s is empty; remove it and run it again", path, eventsFile)
	case p.start == nil || p.start.Data == nil:
		return fmt.Errorf("run %q: the first line of %s is not the run's beginning; begin a new run", path, eventsFile)
	case p.complete():
		return fmt.Errorf("run %q has finished (%s) and %w; kestrel open %s shows it", path, p.all.Reason, errComplete, path)
	case s == nil && p.all.Made > 1:
		if unsaved == nil {
			unsaved = fmt.Errorf("there are %d evaluations but no checkpoint in %s", p.all.Made, stateDir)
		}
		return &noCheckpoint{path: path, err: unsaved}
	case s == nil && unsaved != nil: // one evaluation is soon made again
		p.notices = append(p.notices, unsaved.Error())
	case s == nil:
	case end < s.rest.before.bytes:
		return &noCheckpoint{path: path, err: fmt.Errorf("its %s ends before the evaluation that the checkpoint rests on", eventsFile)}
	case end < s.rest.after.bytes:
		p.lost, p.kept, p.told = true, s.rest.before.bytes, nil
	}
	return nil
}

// complete reports whether nothing is left to be done.
func (p *past) complete() bool {
	all := &p.all
	if all.State != Finished || !all.Ended || all.Evaluation == nil {
		return false
	}
	if p.start.Data.Test > 0 && all.Owed {
		return false
	}
	d := p.course()
	return d.ThenRefine == 0 && (d.PruneTop == 0 || len(all.Evaluation.Below(d.PruneTop)) == 0)
}

// course returns what still follows by itself.
func (p *past) course() Drive {
	if p.start == nil || p.start.Course == nil || p.all.refined() {
		return Drive{}
	}
	return *p.start.Course
}

// cut returns where the log is cut.
func (p *past) cut() logCut {
	c := logCut{kept: p.kept}
	if p.saved != nil {
		c.known = &p.saved.rest.after
		if p.lost {
			c.known = &p.saved.rest.before
		}
	}
	return c
}
