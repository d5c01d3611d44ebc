//go:build unix

package target

import "os"

// A cleaner removes something when the harness ends without doing so itself. It is a shell that waits for the end of a
// pipe, like the guard of a group. It has a process group of its own, since the guard kills all of the target's group.
type cleaner struct {
	process  *os.Process
	writeEnd *os.File // of the pipe
}

// The guard kills the target at the same moment. The second run is for what the target writes or starts until then.
const (
	cleanerScript = `trap '' HUP INT QUIT TERM USR1 USR2 ALRM PIPE TSTP TTIN TTOU
read -r _; clean "$1"; sleep 1; clean "$1"`
	// Its argument is a directory.
	removeDirectory = `clean() { rm -rf -- "$1"; }
`
	// Its argument is the mark in the environment of what a target has started outside of its group. As long as it finds
	// processes, they may go on starting more.
	killStrays = `clean() {
	while found=$(grep -ls "$1" /proc/[0-9]*/environ); [ -n "$found" ]; do
		for file in $found; do pid=${file#/proc/}; kill -KILL "${pid%/environ}" 2>/dev/null; done
	done
}
`
)

// newCleaner starts a cleaner that calls a function of the shell, clean, with an argument.
func newCleaner(clean, argument string) (*cleaner, error) {
	process, writeEnd, err := startShell(clean+cleanerScript, argument, nil)
	if err != nil {
		return nil, err
	}
	return &cleaner{process, writeEnd}, nil
}

// dismiss ends the cleaner before it cleans.
func (c *cleaner) dismiss() {
	if c == nil {
		return
	}
	_ = c.process.Kill()
	_, _ = waitChild(c.process)
	c.writeEnd.Close()
}
