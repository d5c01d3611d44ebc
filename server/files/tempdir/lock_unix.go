//go:build unix && !aix && !solaris

package tempdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// locked creates a file and locks it until it is closed.
func locked(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = flock(file)
	}
	return file, err
}

// abandoned returns the lock of a directory whose server has ended. It returns nil if the server still runs, or if
// the directory was not made by this package.
func abandoned(path string) *os.File {
	if !Private(path) {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if flock(file) != nil {
		file.Close()
		return nil
	}
	return file
}

// Private reports whether a path is a directory that only this user can read. A link is not, because other users
// could have made it.
func Private(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeDir|0o700 {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid()
}

// flock locks a file without waiting. The lock belongs to the open file, so it also works between servers in one
// process.
func flock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
