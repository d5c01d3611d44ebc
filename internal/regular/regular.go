// Package regular opens the files that users name, and refuses what only looks like a file: a pipe that nobody writes to
// hangs, a device never ends or acts, and a link in a folder of reports leads to somebody's other file.
package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Read returns what a file holds, see Open.
func Read(path string) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// Open opens a file for reading. Links are followed. A pipe is read only when it was handed over as an open file: standard
// input, or a shell's <(command).
func Open(path string) (*os.File, error) {
	if handedOver(path) {
		return os.Open(path)
	}
	if err := Check(path); err != nil {
		return nil, err
	}
	// Should a pipe have come in between, the open does not wait for its writer (POSIX open, O_NONBLOCK).
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.Join(err, errors.New("it is no regular file any more"))}
	}
	return file, nil
}

// handedOver reports whether a path names a file that this process was started with.
func handedOver(path string) bool {
	path = filepath.Clean(path)
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

// Check reports whether a path leads to something that is not a file. One that does not exist yet may become one when it is
// written to: then the error is fs.ErrNotExist.
func Check(path string) error {
	return refuse(os.Stat, path)
}

// CheckOutput reports whether a path may be written to, through links too: it is a file, or does not exist yet.
func CheckOutput(path string) error {
	if err := Check(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// CheckNew reports whether Create would refuse a path.
func CheckNew(path string) error {
	if err := refuse(os.Lstat, path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Create makes a new file, in the place of a file that is there. Nothing is written through a link, symbolic or hard.
func Create(path string) (*os.File, error) {
	if err := Remove(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// Remove removes the file, if there is one, and nothing else.
func Remove(path string) error {
	if err := CheckNew(path); err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// refuse says what is there in the place of a file; nil when it is one.
func refuse(stat func(string) (fs.FileInfo, error), path string) error {
	info, err := stat(path)
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "open", Path: path, Err: wrong.Err}
	}
	if err != nil {
		return err
	}
	what := ""
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a directory"
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	default:
		what = "something special"
	}
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is " + what + ", where a regular file must be")}
}
