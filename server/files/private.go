package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

const (
	fileMode      = 0o600
	directoryMode = 0o700
)

// OpenPrivate opens a file with flags of package os, and creates it if it is missing.
func OpenPrivate(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(fileMode); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReplacePrivate replaces a file atomically, even if the power fails, and creates missing directories. It first writes
// the content to a temporary file in the same directory. If it fails, it removes that file, and the file keeps its
// content, unless the system fails to flush the directory after the replacement.
//
// The directory is locked meanwhile, so several servers can use it: a reader sees one of their files, never a mixture.
func ReplacePrivate(path string, content []byte) error {
	return ReplacePrivateAfter(path, content, func(Replace) error { return nil })
}

// A Replace replaces a file as [ReplacePrivate] does.
type Replace func(path string, content []byte) error

// ReplacePrivateAfter is [ReplacePrivate], and calls prepare when the temporary file is on the disk. If prepare fails, the
// file is not replaced. prepare must use its argument to replace others: the directory is locked.
func ReplacePrivateAfter(path string, content []byte, prepare func(Replace) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, directoryMode); err != nil {
		return err
	}
	directory, err := openLocked(dir)
	if err != nil {
		return err
	}
	defer directory.Close() // also unlocks it
	return replaceIn(directory, path, content, func() error {
		return prepare(func(path string, content []byte) error {
			if !isDirectoryOf(directory, path) {
				return ReplacePrivate(path, content)
			}
			return replaceIn(directory, path, content, func() error { return nil })
		})
	})
}

// replaceIn replaces a file of a locked directory.
func replaceIn(directory *os.File, path string, content []byte, prepare func() error) error {
	temporary := filepath.Join(filepath.Dir(path), temporaryName(filepath.Base(path)))
	if err := remove(temporary); err != nil { // a server that was killed may have left one
		return err
	}
	err := write(temporary, content)
	if err == nil {
		err = prepare()
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return errors.Join(err, remove(temporary))
	}
	return flush(directory)
}

// isDirectoryOf reports whether a file is in a directory, which may have several paths.
func isDirectoryOf(directory *os.File, path string) bool {
	one, err := directory.Stat()
	if err != nil {
		return false
	}
	other, err := os.Stat(filepath.Dir(path))
	return err == nil && os.SameFile(one, other)
}

// temporaryName returns the name of the temporary file for a file, whose own name may be as long as a name can be.
func temporaryName(name string) string {
	const suffix, longest = ".tmp", 255
	return strings.ToValidUTF8(name[:min(len(name), longest-len(suffix))], "") + suffix
}

// write creates a file and flushes it to the disk.
func write(path string, content []byte) error {
	f, err := OpenPrivate(path, os.O_WRONLY|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// remove removes a file, unless there is none.
func remove(path string) error {
	if err := os.Remove(path); !IsMissing(err) {
		return err
	}
	return nil
}

// Target returns the path of the file at the end of a link: to replace that file keeps the link. It returns the path
// itself if that is not a link, or one that leads nowhere, or in a circle.
func Target(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}
