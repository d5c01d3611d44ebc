package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstep-dev/lockstep/internal/regular"
)

// lockName is the file that a folder is locked by. It is empty: only the lock on it says that somebody writes here.
const lockName = ".lock"

// ownFolder makes a folder, if it is not there, and locks it for this process. Two runs would write over each other's files.
func ownFolder(dir string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, lockName)
	if err := regular.CheckNew(path); err != nil {
		return nil, err
	}
	lock, holder, err := lockFile(path)
	if err == nil && holder != "" {
		err = fmt.Errorf("%s is writing to %s", holder, dir)
	}
	return lock, err
}
