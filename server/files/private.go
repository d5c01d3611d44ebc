package files

import (
	"errors"
	"os"
)

const mode = 0o600

// OpenPrivate opens a file with flags of package os, and creates it if it is missing.
func OpenPrivate(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|os.O_CREATE, mode)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(mode); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReplacePrivate replaces a file atomically, even if the power fails. It first writes the content to a temporary file
// in the same folder, which no other writer may use.
func ReplacePrivate(path, temporary string, content []byte) error {
	f, err := OpenPrivate(temporary, os.O_WRONLY|os.O_TRUNC)
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
