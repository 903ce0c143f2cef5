// Package finding says in a few sentences what a run has found: what the data show,
// how sure that is and since when, what it is worth beside a baseline, how much of what
// was held out lies within the intervals, and what to do next. It is a function of
// record.Standing and of where the run lies alone, so that the workbench, the summary
// and the report say the same.
package finding
