// Package private makes files that only their user can read and write, whatever their folder and the umask say
// (decision G13).
package private

import (
	"errors"
	"os"
)

const mode = 0o600

// Open opens a file with flags of package os, and makes it if there is none.
func Open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|os.O_CREATE, mode)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(mode); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Replace puts content in the place of a file, which has the old content or the new one at any time, also if the power
// fails. It is written under a temporary name in the same folder, which nobody else may use.
func Replace(path, temporary string, content []byte) error {
	f, err := Open(temporary, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
