// Package regular opens files that users name, and rejects everything that is not a regular file. A pipe without a
// writer would block. A device may never end, or may have side effects. A link in a reports folder may lead to a file
// outside of it.
package regular

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Read reads a whole file; see Open.
func Read(path string) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out bytes.Buffer
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() < maxGrow {
		out.Grow(int(info.Size()) + bytes.MinRead) // growing in steps would take three times the memory
	}
	_, err = out.ReadFrom(file)
	return out.Bytes(), err
}

// maxGrow is more than what people write by hand, and limits what a size alone can cost.
const maxGrow = 64 << 20

// Open opens a file for reading, and follows links. It accepts a pipe only as an inherited open file: standard input,
// or a shell's <(command).
func Open(path string) (*os.File, error) {
	if handedOver(path) {
		return os.Open(path)
	}
	if err := Check(path); err != nil {
		return nil, err
	}
	// If the file was replaced by a pipe after the check, the open must not wait for a writer (POSIX open,
	// O_NONBLOCK).
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.Join(err, errors.New("it is no longer a regular file"))}
	}
	return file, nil
}

// handedOver reports whether a path names a file descriptor that this process inherited.
func handedOver(path string) bool {
	path = filepath.Clean(path)
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

// Check returns an error if a path leads to something other than a regular file. For a missing file, which a later
// write may create, the error is fs.ErrNotExist.
func Check(path string) error {
	return refuse(os.Stat, path)
}

// CheckOutput returns an error unless a path may be written to, through links too: it is a regular file or does not
// exist.
func CheckOutput(path string) error {
	if err := Check(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// CheckNew returns the error with which Create would reject a path.
func CheckNew(path string) error {
	if err := refuse(os.Lstat, path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Create creates a new file, and replaces an existing one. It never writes through a symbolic or hard link.
func Create(path string) (*os.File, error) {
	if err := Remove(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// Remove removes a regular file, if it exists, and rejects anything else.
func Remove(path string) error {
	if err := CheckNew(path); err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// refuse returns an error that says what a path is, or nil if it is a regular file.
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
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is " + what + ", but must be a regular file")}
}
