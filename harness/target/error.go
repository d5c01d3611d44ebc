package target

import "fmt"

// An Error says that a target did not start, did not get ready or did not end.
type Error struct {
	Target string // its name
	Doing  string // what was being done to it: "start", "reach", "terminate", "stop"
	Err    error
	Log    []Line // the last lines it wrote; empty when it was not started
}

// Error returns one line, without the log.
func (e *Error) Error() string {
	return fmt.Sprintf("%s target %q: %v", e.Doing, e.Target, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
