package turn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/files/tempdir"
)

// maxToolText is the maximum number of characters in a text of a tool (GA 7.8).
const maxToolText = 200_000

// textFiles are the large texts of a session's tools, each in a file (decision M33).
type textFiles struct {
	mu    sync.Mutex
	paths []string
}

// shortened replaces texts that are too large for a model by the path of a file with the text. If the file cannot be
// written, the text stays.
func (t *textFiles) shortened(result message.ToolResult) message.ToolResult {
	for i, content := range result.Value {
		text, ok := content.(message.ToolText)
		if !ok || len(text.Text) <= maxToolText || utf8.RuneCountInString(text.Text) <= maxToolText {
			continue
		}
		if path, err := t.keep(text.Text); err == nil {
			text.Text = "The text of this tool was larger than 200000 characters. It is in the file " + path + "."
			result.Value[i] = text
		}
	}
	return result
}

const (
	textDirectory = "goose_mcp_responses"
	textAge       = 7 * 24 * time.Hour
)

// keep writes a text to a new file, and removes old files.
func (t *textFiles) keep(text string) (path string, err error) {
	dir := filepath.Join(os.TempDir(), textDirectory)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if tempdir.Private(dir) {
		removeOld(dir, time.Now().Add(-textAge))
	} else if dir, err = os.MkdirTemp("", textDirectory+"-*"); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(dir, "mcp_response_"+time.Now().UTC().Format("20060102_150405.000000")+"_*.txt")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name())) // half a text is useless
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paths = append(t.paths, file.Name())
	return file.Name(), nil
}

// removeOld removes the files that were last written before the given time.
func removeOld(dir string, before time.Time) {
	entries, _ := os.ReadDir(dir) // those that cannot be read stay
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// any reports whether there is a file.
func (t *textFiles) any() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.paths) > 0
}

// remove removes the files, and the directories that were created for a single file.
func (t *textFiles) remove() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range t.paths {
		_ = os.Remove(path)
		if dir := filepath.Dir(path); filepath.Base(dir) != textDirectory {
			_ = os.Remove(dir)
		}
	}
	t.paths = nil
}
