package launcher

import (
	"fmt"
	"math"
	"time"

	"example.com/kestrel/experiment/library"
	"example.com/kestrel/ui/format"
)

// runSheet shows a past or present run.
func (l *Launcher) runSheet(s *sheet, r *library.RunInfo) {
	t := s.t
	standing := r.Word()
	if r.Live {
		standing += ", being written by another process"
	}
	s.pair("state", standing, l.standingStyle(t, r))
	if r.Reason != "" {
		s.pair("", r.Reason, t.Faint)
	}
	if r.Err != "" {
		s.gap()
		s.text(r.Err, t.Bad)
		return
	}
	if r.Leader != "" {
		leader := r.LeaderName
		if !math.IsNaN(r.Posterior) {
			leader += fmt.Sprintf(", q* %.3f", r.Posterior)
		}
		s.pair("leader", leader, t.Strong)
	}
	if !math.IsNaN(r.RMSE) {
		s.pair("rmse", format.Digits(r.RMSE), t.Text)
	}
	if r.Planned > 0 {
		s.pair("done", fmt.Sprintf("%d of %d evaluations", r.Evaluations, r.Planned), t.Text)
	}
	s.pair("data", fmt.Sprintf("%s, %d training rows", r.Data, r.Rows), t.Text)
	if r.Explains != "" {
		s.pair("explains", r.Explains, t.Text)
	}
	s.pair("kernels", fmt.Sprint(r.Kernels), t.Text)
	if !r.Started.IsZero() {
		s.pair("started", r.Started.Local().Format("2006-01-02 15:04")+", "+ago(l.host.Now().Sub(r.Started)), t.Text)
		s.pair("worked", format.Clock(time.Duration(r.Seconds*float64(time.Second))), t.Text)
	}
	s.pair("folder", r.Path, t.Text)
	s.gap()
	s.text("enter opens it.", t.Faint)
}
