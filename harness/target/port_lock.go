//go:build unix

package target

import (
	"fmt"
	"os"
	"sync"
	"syscall"
)

// locks is a file with one byte for each port of the machine. A process that has locked byte n has port n. The locks
// end with the process, and the file stays empty, so it is never out of date. Its path does not depend on TMPDIR, so
// that all locksteps of a user find it. When it cannot be opened, it is nil, and the ports of other processes are
// unknown.
var locks = sync.OnceValue(func() *os.File {
	file, err := os.OpenFile(fmt.Sprintf("/tmp/lockstep-ports-%d", os.Getuid()), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil
	}
	return file
})

// lockPort locks a port and reports whether no other process had it.
func lockPort(number int) bool {
	return setLock(number, syscall.F_WRLCK)
}

func unlockPort(number int) {
	setLock(number, syscall.F_UNLCK)
}

func setLock(number int, kind int16) bool {
	file := locks()
	if file == nil {
		return true
	}
	err := syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: kind, Start: int64(number), Len: 1})
	return err != syscall.EACCES && err != syscall.EAGAIN // POSIX allows either
}
