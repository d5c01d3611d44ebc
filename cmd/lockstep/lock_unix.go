//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// lockFile locks a file until it is closed, which removes it, or until this process ends in any way. If another
// process has the lock, holder says which one. The locks are POSIX locks, because network file systems support them
// too. On a file system without locks, the file is not locked.
func lockFile(path string) (lock io.Closer, holder string, err error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644)
		if err != nil {
			return nil, "", err
		}
		whole := syscall.Flock_t{Type: syscall.F_WRLCK}
		err = syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &whole)
		switch {
		case err == syscall.EACCES || err == syscall.EAGAIN: // POSIX allows either
			defer file.Close()
			holder = "another process"
			if syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &whole) == nil && whole.Pid > 0 {
				holder = fmt.Sprintf("process %d", whole.Pid)
			}
			return nil, holder, nil
		case isAt(file, path):
			return removedLock{file}, "", nil
		}
		file.Close() // its holder just removed it, so the next process would lock another file
	}
}

// isAt reports whether an open file is the one at path.
func isAt(file *os.File, path string) bool {
	one, err := file.Stat()
	other, otherErr := os.Lstat(path)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

type removedLock struct{ *os.File }

// Close removes the file while it is still locked.
func (l removedLock) Close() error {
	_ = os.Remove(l.Name()) // a file that stays is not locked
	return l.File.Close()
}
