package developer

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/lockstep-dev/lockstep/server/files"
)

// maxFile is the maximum size of a file that can be changed (decision X17).
const maxFile = 16 << 20

// paths resolves the paths that the model names.
type paths struct {
	current string
	rules
}

// A file is a file that a call names.
type file struct {
	given string // as the model wrote it
	path  string // absolute
}

// file returns the file with a name. It fails if the file is ignored.
func (p paths) file(given string) (file, error) {
	path := given
	if home, err := os.UserHomeDir(); err == nil && (path == "~" || strings.HasPrefix(path, "~/")) {
		path = home + path[1:]
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.current, path)
	}
	f := file{given, filepath.Clean(path)}
	if p.ignored(f.path) {
		return f, failed("Access to '%s' is restricted by .gooseignore", given)
	}
	return f, nil
}

func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (f file) notThere() error {
	return failed("The path '%s' does not exist or is not accessible.", f.given)
}

func (f file) unwritable() error { return failed("Failed to write file: %s", f.given) }

// content returns the content of a file.
func (f file) content(limit int64) (string, error) {
	content, err := files.ReadText(f.path, limit)
	switch {
	case isMissing(err), errors.Is(err, files.ErrNotPlain):
		return "", f.notThere()
	case err != nil:
		return "", failed("Failed to read file: %s", f.given)
	}
	return content, nil
}

// replace replaces the content of a file, or creates the file. It writes a new file next to it and renames it, so
// that the file is unchanged after any error. If the path is a link, its target is replaced.
func replace(path, content string, write func(io.Writer, string) (int, error)) error {
	path = resolved(path)
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return errors.New("it is no file")
	}
	beside := filepath.Join(filepath.Dir(path), ".goose-"+strconv.FormatUint(rand.Uint64(), 36))
	out, failure := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if failure != nil {
		return failure
	}
	if err == nil {
		failure = keepRights(out, info)
	}
	if failure == nil {
		_, failure = write(out, content)
	}
	if failure == nil {
		failure = out.Sync()
	}
	if failure = errors.Join(failure, out.Close()); failure == nil {
		failure = os.Rename(beside, path)
	}
	if failure != nil {
		_ = os.Remove(beside)
	}
	return failure
}
