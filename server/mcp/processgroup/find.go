package processgroup

import (
	"os/exec"
	"path/filepath"
	"strings"
)

// Find returns the path of a command (decision X10). A relative path with a slash starts at a directory. A name without a
// slash is looked up in PATH.
func Find(name, directory string) (string, error) {
	switch {
	case !strings.ContainsRune(name, filepath.Separator):
		return exec.LookPath(name)
	case filepath.IsAbs(name):
		return name, nil
	}
	return filepath.Join(directory, name), nil
}
