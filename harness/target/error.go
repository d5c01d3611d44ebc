package target

import "fmt"

// An Error says that a target failed to start, to become ready, or to exit.
type Error struct {
	Target string // name of the target
	Doing  string // what failed: "start", "reach", "terminate", "stop"
	Err    error
	Log    []Line // the last lines of its log; empty when it was not started
}

// Error returns one line, without the log.
func (e *Error) Error() string {
	return fmt.Sprintf("%s target %q: %v", e.Doing, e.Target, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
