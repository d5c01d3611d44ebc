package target

import "fmt"

// An Error is what a target did wrong in its life: it did not start, did not get ready, did not end.
type Error struct {
	Target string // its name
	Doing  string // what was being done to it: "start", "reach", "terminate", "stop"
	Err    error
	Log    []Line // the last lines it wrote; empty when it was not started
}

// Error is one line; the log is left to whoever shows the error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s target %q: %v", e.Doing, e.Target, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
