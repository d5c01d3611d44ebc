package target

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A Directory is a folder for one server, the value of "${{ directory }}". It first has the files of the Spec, and is
// removed with the server. A restarted server gets the same folder with everything in it.
//
// If the harness ends first, a cleaner removes the folder.
type Directory struct {
	path    string
	cleaner *cleaner

	mu           sync.Mutex
	filesWritten bool
	port         string
	removed      bool
}

// A File is written into the directory before the server starts.
type File struct {
	Path string // relative to the directory, with slashes: "config/config.yaml"
	Data []byte
	// Text means that Data is a text in which expressions such as "${{ port }}" are replaced, as in Env.
	Text bool
}

// NewDirectory creates an empty directory in a folder; "" means the folder for temporary files. The caller must remove
// it.
func NewDirectory(in string) (*Directory, error) {
	made, err := mkdir(in)
	if err != nil {
		return nil, err
	}
	// A server that asks the system for its working directory gets a path without symbolic links.
	if real, err := filepath.EvalSymlinks(made); err == nil {
		made = real
	}
	d := &Directory{path: made}
	if d.cleaner, err = newCleaner(removeDirectory, made); err != nil {
		return nil, errors.Join(err, os.RemoveAll(made))
	}
	return d, nil
}

// mkdir creates a folder whose name always has the same length. Servers may show their path in a response, and its
// length must not change from run to run.
func mkdir(in string) (string, error) {
	for try := 0; ; try++ {
		name := filepath.Join(cmp.Or(in, os.TempDir()), fmt.Sprintf("lockstep-%016x", rand.Uint64()))
		err := os.Mkdir(name, 0o700)
		if err == nil || try == 100 || !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// Path returns the path of the directory; "" for nil.
func (d *Directory) Path() string {
	if d == nil {
		return ""
	}
	return d.path
}

// Remove removes the directory with everything in it. It can be called several times.
func (d *Directory) Remove() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.removed {
		return nil
	}
	err := os.RemoveAll(d.path)
	if errors.Is(err, fs.ErrPermission) { // a server may have removed the permission to read its folders
		_ = filepath.WalkDir(d.path, func(p string, e fs.DirEntry, _ error) error {
			if e != nil && e.IsDir() {
				_ = os.Chmod(p, 0o700)
			}
			return nil
		})
		err = os.RemoveAll(d.path)
	}
	d.cleaner.dismiss()
	d.removed = true
	if err != nil {
		return fmt.Errorf("remove the directory of the target: %w", err)
	}
	return nil
}

// writeFiles writes the files of the spec. A restarted server finds its files as it left them. Only the files that
// contain its port are written again when the port has changed.
func (d *Directory) writeFiles(files []File, values map[string]string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	root, err := os.OpenRoot(d.path) // an os.Root does not follow symbolic links to the outside
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		if d.filesWritten && (d.port == values["port"] || !f.names("port")) {
			continue
		}
		name, data := filepath.FromSlash(f.Path), f.Data
		if f.Text {
			data = []byte(fill(string(data), values))
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return fmt.Errorf("file %q: %w", f.Path, withoutPath(err))
		}
		// The server may have put something else there, such as a pipe, on which a write would hang.
		if info, err := root.Lstat(name); err == nil && !info.IsDir() {
			_ = root.Remove(name) // if it cannot be removed, the write fails
		}
		if err := root.WriteFile(name, data, 0o600); err != nil {
			return fmt.Errorf("file %q: %w", f.Path, withoutPath(err))
		}
	}
	d.filesWritten, d.port = true, values["port"]
	return nil
}

// names reports whether an expression of the file uses a name.
func (f File) names(name string) bool {
	if !f.Text {
		return false
	}
	return slices.Contains(namesIn(string(f.Data)), name)
}

// CheckPath reports why a file cannot be written at its path, or returns nil.
func (f File) CheckPath() error {
	switch {
	case f.Path == "" || strings.ContainsRune(f.Path, 0):
		return fmt.Errorf("file %q has no name", f.Path)
	case strings.Contains(f.Path, `\`) || path.Clean(f.Path) != f.Path || !filepath.IsLocal(filepath.FromSlash(f.Path)) || f.Path == ".":
		return fmt.Errorf("file %q is not a path below the directory, such as config/config.yaml", f.Path)
	}
	return nil
}

// checkFiles returns the mistakes in the files of a spec.
func checkFiles(files []File, names ...string) (mistakes []error) {
	for i, f := range files {
		if err := f.CheckPath(); err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		for _, other := range files[:i] {
			if f.Path == other.Path || strings.HasPrefix(f.Path, other.Path+"/") || strings.HasPrefix(other.Path, f.Path+"/") {
				mistakes = append(mistakes, fmt.Errorf("files %q and %q conflict: they have the same path, or one is in the other", other.Path, f.Path))
			}
		}
		if f.Text {
			if _, err := Placeholders(string(f.Data), names...); err != nil {
				mistakes = append(mistakes, fmt.Errorf("file %q: %w", f.Path, err))
			}
		}
	}
	return mistakes
}
