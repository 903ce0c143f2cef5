package record

// Cause is why a run entered a state or gave a notice, for the code that goes by
// it; the words of a reason or a notice are for people only. Most have none.
type Cause string

// The causes.
const (
	CauseDiskFull   Cause = "disk-full"   // paused until there is room
	CauseUnwritable Cause = "unwritable"  // failed: the results cannot be written
	CauseInternal   Cause = "internal"    // failed: a mistake of the program
	CauseTimeBudget Cause = "time-budget" // failed or finished: the time is up
	CauseUnscored   Cause = "unscored"    // of a notice: the last evaluation, as it is now, will not be scored
	CauseVerdict    Cause = "verdict"     // of a notice: a line of Standing.Verdict
)

// OfKernels reports whether a failure says something about the kernels, rather
// than about the disk or the program.
func (c Cause) OfKernels() bool { return c != CauseUnwritable && c != CauseInternal }
