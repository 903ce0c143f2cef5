package experiment

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/vbks"
)

// pastRun is what the event log of a run says that matters when it is taken up
// again, and where the log is cut.
type pastRun struct {
	saved *rundir.Checkpoint // nil: there is no checkpoint, it begins with the first evaluation
	start *record.Start      // nil: the first event cannot be read
	kept  int64              // bytes of the log that stay
	size  int64              // of the log
	lost  bool               // the log ends right before the event that the checkpoint rests on

	stays    record.Standing // after the events that stay
	all      record.Standing // after all
	told     []string        // notices that stay, since what is believed was last revised
	done     int             // orders that the checkpoint rests on; the others are given again
	fresh    []record.Order  // given now
	begin    int             // training rows that the run began with, where others came behind them; 0: none did
	repeated int             // evaluations that are cut
	notices  []string        // of what was found while reading
	now      *record.Start   // as it is here and now
}

// readPast reads a log from its beginning. With a checkpoint, what stands
// before the event that it rests on must be what it was. Where all is to be
// done again, damage only ends it. unsaved says why there is no checkpoint, if
// that is not for its being missing.
func readPast(dir *inside.Dir, s *rundir.Checkpoint, unsaved error, o ResumeOptions) (*pastRun, error) {
	again := o.FromStart
	path := dir.Path()
	file, err := record.OpenIn(dir)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("run %q cannot be read: %w", path, err)
	}
	p := &pastRun{saved: s, size: info.Size()}
	known, cut := int64(0), false
	if s != nil {
		known = s.Rest.After.Bytes
	}
	d := record.NewDecoder(file)
	begin := int64(0)
	for {
		e, err := d.Next()
		var damage *record.DamagedLine
		switch {
		case err == nil:
		case err == io.EOF:
		case errors.As(err, &damage) && (begin >= known || again):
			p.notices = append(p.notices, fmt.Sprintf("%s: %v; it and what stands behind it are cut", record.EventsFile, err))
			err = io.EOF
		default:
			return nil, fmt.Errorf("run %q: %s: %w", path, record.EventsFile, err)
		}
		if err == io.EOF {
			break
		}
		cut = cut || begin >= known && e.Redone()
		p.take(e, cut, begin < known)
		begin = d.Read
		if !cut {
			p.kept = begin
		}
	}
	for _, o := range p.all.Pending {
		if o.Start != nil { // the table that it has then
			p.all.Start = o.Start
		}
	}
	if torn := p.size - begin; torn > 0 && len(p.notices) == 0 {
		p.notices = append(p.notices, fmt.Sprintf("the last line of %s was torn; its %d bytes are cut", record.EventsFile, torn))
	}
	if again {
		p.kept, p.stays, p.told, p.repeated = 0, record.Standing{}, nil, p.all.Made
		return p, nil
	}
	return p, p.check(path, begin, unsaved, o.Data != "")
}

// take takes an event in. It is cut or stays; certain says that a checkpoint
// rests on it.
func (p *pastRun) take(e *record.Event, cut, certain bool) {
	if e.Type == record.EventStarted && p.start == nil {
		p.start = e.Start
	}
	p.all.Apply(e)
	if certain {
		p.done = len(p.all.Orders)
	}
	if cut {
		if e.Type == record.EventEvaluation {
			p.repeated++
		}
		return
	}
	p.stays.Apply(e)
	switch {
	case e.Evaluation != nil:
		p.told = nil
	case e.Type == record.EventNotice:
		p.told = append(p.told, e.Notice)
	}
}

// orders are those that are given again: what the checkpoint does not have, and what was
// to be given again when the run was taken up the last time.
func (p *pastRun) orders() []record.Order { return slices.Concat(p.all.Orders[p.done:], p.all.Pending) }

// ErrComplete is below the error of a run of which nothing is left to be done.
var ErrComplete = errors.New("needs no resuming")

// check finds what keeps a run from being resumed; end is where the log's last
// whole line ends. Where there may be more rows, to have finished is no reason.
func (p *pastRun) check(path string, end int64, unsaved error, more bool) error {
	s := p.saved
	switch {
	case p.start == nil && end == 0:
		return fmt.Errorf("run %q ended before it began: its %s is empty; remove it and run it again", path, record.EventsFile)
	case p.start == nil || p.start.Data == nil:
		return fmt.Errorf("run %q: the first line of %s is not the run's beginning; begin a new run", path, record.EventsFile)
	case p.complete() && !more:
		return fmt.Errorf("run %q has finished (%s) and %w; kestrel open %s shows it, and --data has it learn from rows that came "+
			"later", path, p.all.Reason, ErrComplete, path)
	case s == nil && p.all.Made > 1:
		if unsaved == nil {
			unsaved = fmt.Errorf("there are %d evaluations but no checkpoint in %s", p.all.Made, record.StateDir)
		}
		return &rundir.NoCheckpoint{Path: path, Err: unsaved}
	case s == nil && unsaved != nil: // one evaluation is soon made again
		p.notices = append(p.notices, unsaved.Error())
	case s == nil:
	case end < s.Rest.Before.Bytes:
		return &rundir.NoCheckpoint{Path: path, Err: fmt.Errorf("its %s ends before the evaluation that the checkpoint rests on",
			record.EventsFile)}
	case end < s.Rest.After.Bytes:
		p.lost, p.kept, p.told = true, s.Rest.Before.Bytes, nil
	}
	return nil
}

// fits returns an error if a checkpoint's last evaluation is not the one that its
// place in the log is about.
func (p *pastRun) fits(e *vbks.Evaluation) error {
	if p.saved == nil {
		return nil
	}
	made, has := p.stays.Made, 0
	if p.lost && p.saved.Rest.What == record.EventEvaluation {
		made++
	}
	if e != nil {
		has = e.Index
	}
	if has != made || e == nil {
		return fmt.Errorf("its checkpoint is of evaluation %d, the place in %s that it rests on of evaluation %d", has, record.EventsFile, made)
	}
	return nil
}

// complete reports whether nothing is left to be done.
func (p *pastRun) complete() bool {
	all := &p.all
	if all.State != record.Finished || !all.Ended || all.Evaluation == nil || len(all.Pending) > 0 {
		return false
	}
	if p.start.Data.Test > 0 && all.Owed {
		return false
	}
	d := p.course()
	return d.ThenRefine == 0 && (d.PruneTop == 0 || len(all.Evaluation.Below(d.PruneTop)) == 0)
}

// course returns what still follows by itself.
func (p *pastRun) course() record.Course {
	if p.start == nil || p.start.Course == nil || p.all.Refined() {
		return record.Course{}
	}
	return *p.start.Course
}

// cut returns where the log is cut.
func (p *pastRun) cut() rundir.Cut {
	c := rundir.Cut{Kept: p.kept}
	if p.saved != nil {
		c.Known = &p.saved.Rest.After
		if p.lost {
			c.Known = &p.saved.Rest.Before
		}
	}
	return c
}
