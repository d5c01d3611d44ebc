package run

import "github.com/lockstep-dev/lockstep/harness/transport/stdio"

// A Program is a process that a step has started on a target which is a program. The step's stream owns it, and stops
// it, see [stdio.Open].
type Program interface{ stdio.Process }

// ProgramOptions are what a step adds to the command of the target.
type ProgramOptions struct {
	Args []string          // further arguments
	Env  map[string]string // variables that replace the target's
	Dir  string            // the working directory, relative to the target's; "" is the target's
}
