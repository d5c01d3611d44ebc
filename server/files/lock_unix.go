//go:build unix && !aix && !solaris

package files

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// maxTries and pause limit how long one server waits while another one writes to the same directory.
const (
	maxTries = 500
	pause    = 10 * time.Millisecond
)

// nonBlocking is the flag to open a FIFO without waiting for a writer.
const nonBlocking = syscall.O_NONBLOCK

// openLocked opens a directory, and locks it until it is closed. File systems without locks are used without.
func openLocked(path string) (*os.File, error) {
	directory, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for range maxTries {
		err := syscall.Flock(int(directory.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return directory, nil
		}
		time.Sleep(pause)
	}
	directory.Close()
	return nil, &os.PathError{Op: "lock", Path: path, Err: errors.New("another process has locked it for too long")}
}

// flush flushes a directory to the disk: without that, a power failure could undo a renaming in it.
func flush(directory *os.File) error { return directory.Sync() }
