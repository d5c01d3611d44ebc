//go:build unix

package target

import "os"

// A cleaner removes something when the harness ends without having removed it. Like the guard of a group, it is a shell
// that waits for the end of a pipe. It has its own process group, because the guard kills the target's whole group.
type cleaner struct {
	process  *os.Process
	writeEnd *os.File // of the pipe
}

// The guard kills the target at the same moment. The second run catches what the target writes or starts until then.
const (
	cleanerScript = `trap '' HUP INT QUIT TERM USR1 USR2 ALRM PIPE TSTP TTIN TTOU
read -r _; clean "$1"; sleep 1; clean "$1"`
	// The argument is a directory.
	removeDirectory = `clean() { rm -rf -- "$1"; }
`
	// The argument is the mark in the environment of every process that a target has started outside of its group. It
	// repeats until it finds none, because the processes that it finds may be starting others.
	killStrays = `clean() {
	while found=$(grep -ls "$1" /proc/[0-9]*/environ); [ -n "$found" ]; do
		for file in $found; do pid=${file#/proc/}; kill -KILL "${pid%/environ}" 2>/dev/null; done
	done
}
`
)

// newCleaner starts a cleaner. clean defines a shell function of that name, which is called with the argument.
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
