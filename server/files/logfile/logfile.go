// Package logfile writes the server's log to a file of its own for each start (GA 1.3, decision S47).
package logfile

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/server/files"
)

const (
	maxBytes = 16 << 20
	maxAge   = 14 * 24 * time.Hour
	lastLine = "the log ends here: it has 16 MiB\n"
)

// A Log is the log of one start. It also writes everything to a stream, whose errors [Log.Write] returns.
type Log struct {
	stream io.Writer

	mu   sync.Mutex
	file *os.File // nil if nothing more is written to it
	left int
}

// Open creates the file in a folder for the day below dir. If that fails, it writes one line about it to the stream.
func Open(dir string, now time.Time, stream io.Writer) *Log {
	now = now.UTC()
	l := &Log{stream: stream, left: maxBytes - len(lastLine)}
	sweep(dir, now)
	day := filepath.Join(dir, now.Format(time.DateOnly))
	err := os.MkdirAll(day, 0o700)
	if err == nil {
		name := now.Format("150405") + "-" + strconv.Itoa(os.Getpid()) + ".log"
		l.file, err = files.OpenPrivate(filepath.Join(day, name), os.O_WRONLY|os.O_APPEND)
	}
	if err != nil {
		l.lose(err)
	}
	return l
}

// Write writes a line to the stream, and to the file while that has room.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(line)
	return l.stream.Write(line)
}

func (l *Log) keep(line []byte) {
	if l.file == nil {
		return
	}
	if l.left -= len(line); l.left < 0 {
		line = []byte(lastLine)
	}
	if _, err := l.file.Write(line); err != nil {
		l.lose(err)
	} else if l.left < 0 {
		l.shut()
	}
}

// lose stops writing to the file, and says why.
func (l *Log) lose(err error) {
	_, _ = io.WriteString(l.stream, "the log file is not written: "+err.Error()+"\n")
	l.shut()
}

func (l *Log) shut() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// Close closes the file. The stream stays open.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut()
}

// sweep removes old logs and the folders that become empty. It ignores errors.
func sweep(dir string, now time.Time) {
	logs, _ := filepath.Glob(filepath.Join(dir, "*", "*.log"))
	for _, path := range logs {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < maxAge {
			continue
		}
		_ = os.Remove(path)
		if rest, err := os.ReadDir(filepath.Dir(path)); err == nil && len(rest) == 0 {
			_ = os.Remove(filepath.Dir(path))
		}
	}
}
