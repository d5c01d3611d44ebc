package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/regular"
)

// version returns what tells the version of a target from others: a sum of the file, or the folder, that the project names;
// "" when it names none, or when that is not here: where a recording is used, the reference need not be installed.
func (p *Project) version(name string) (string, error) {
	i := index(p.Targets, name)
	if i < 0 || p.Targets[i].VersionFile == "" {
		return "", nil
	}
	text, err := contentSum(p.Targets[i].VersionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("the version of %s: %w", name, err)
	}
	return text[:16], nil
}

// contentSum returns the SHA-256 sum of a file, or of the names and contents of all files below a folder.
func contentSum(path string) (string, error) {
	var all strings.Builder
	err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error { // in the order of the names
		if err != nil || d.IsDir() {
			return err
		}
		data, err := regular.Read(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(path, file)
		fmt.Fprintf(&all, "%s %q\n", sum(data), filepath.ToSlash(name))
		return err
	})
	return sum([]byte(all.String())), err
}
