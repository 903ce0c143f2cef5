package vbks

import "fmt"

// failureNotice tells that a kernel has failed.
func failureNotice(kernel, reason string) string {
	return fmt.Sprintf("kernel %s failed: %s", kernel, reason)
}

// FailureTold returns the kernel of whose failure one of the evaluation's notices
// tells, "" if it tells of something else.
func (e *Evaluation) FailureTold(notice string) string {
	if e == nil {
		return ""
	}
	for i := range e.Kernels {
		if k := &e.Kernels[i]; k.Status == Failed && notice == failureNotice(k.ID, k.Reason) {
			return k.ID
		}
	}
	return ""
}
