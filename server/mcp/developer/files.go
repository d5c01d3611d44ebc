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

// maxFile is how large a file may be that is changed (decision X17).
const maxFile = 16 << 20

// paths are those that the model may name.
type paths struct {
	current string
	rules
}

// A file is one that is named in a call.
type file struct {
	given string // as the model has named it
	path  string // absolute
}

// file returns the file of a name. It fails if the file is ignored.
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

// content returns what is in a file.
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

// replace puts a new content in the place of a file, or makes the file. It writes beside it and renames: whatever fails on the
// way, the file is as before. Links lead to the file that is replaced.
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
