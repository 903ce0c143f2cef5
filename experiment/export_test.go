package experiment

// ErrRunClosed is the error of an order to a run that has been closed.
var ErrRunClosed = errClosed
