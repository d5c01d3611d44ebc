package llm

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Logs keeps the requests and answers of the last calls in ten files. llm_request.0.jsonl is the newest (GA 18.9,
// decision M40). It keeps no headers, and so no keys. A nil *Logs keeps nothing.
type Logs struct {
	dir string
	log *slog.Logger

	mu sync.Mutex // guards the names of the files
}

// kept is the number of calls that are kept.
const kept = 10

// NewLogs returns logs in a directory, which is created when needed.
func NewLogs(dir string, log *slog.Logger) *Logs { return &Logs{dir: dir, log: log} }

// Sweep removes the unfinished logs of servers that were killed. It only removes old ones, because another server may
// still be writing to newer ones.
func (l *Logs) Sweep() {
	parts, _ := filepath.Glob(filepath.Join(l.dir, "llm_request.*.part"))
	for _, path := range parts {
		if info, err := os.Lstat(path); err != nil || time.Since(info.ModTime()) < abandoned {
			continue
		}
		if err := os.Remove(path); err != nil {
			l.log.Warn("log of an old call not removed", "err", err)
		}
	}
}

// abandoned is how long a log must be unchanged to count as abandoned.
const abandoned = 24 * time.Hour

// A callLog is the log of one call. It holds little in memory and keeps no file open, because a call may last long.
type callLog struct {
	ctx  context.Context // of the call, for what the server logs
	logs *Logs
	path string // during the call
	buf  []byte
	lost bool // could not be written
}

// heldBytes is how much a log buffers before it writes.
const heldBytes = 16 << 10

// begin starts the log of a call.
func (l *Logs) begin(ctx context.Context, config ModelConfig, body jsonwire.Text) *callLog {
	if l == nil {
		return nil
	}
	c := &callLog{ctx: ctx, logs: l}
	if err := c.create(); err != nil {
		c.lose(err)
		return c
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("model_config")
	config.Write(w)
	w.Name("input").Raw(body)
	w.Close('}')
	c.line(w)
	return c
}

// create creates a file that does not count as a log yet.
func (c *callLog) create() error {
	if err := os.MkdirAll(c.logs.dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(c.logs.dir, "llm_request.*.part")
	if err != nil {
		return err
	}
	c.path = file.Name()
	return file.Close()
}

// piece logs a piece of the answer.
func (c *callLog) piece(piece Piece) {
	if c == nil {
		return
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("data")
	if piece.Message == nil {
		w.Null()
	} else {
		piece.Message.Write(w)
	}
	w.Name("usage")
	piece.Usage.write(w)
	w.Close('}')
	c.line(w)
}

func (u *Usage) write(w *jsonwire.Writer) {
	if u == nil {
		w.Null()
		return
	}
	w.Open('{')
	w.Name("input_tokens").IntOrNull(u.Input)
	w.Name("output_tokens").IntOrNull(u.Output)
	w.Name("total_tokens").IntOrNull(u.Total)
	w.Close('}')
}

// fail logs why there is no answer, or no more of it.
func (c *callLog) fail(err error) {
	if c == nil {
		return
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("error").String(err.Error())
	w.Close('}')
	c.line(w)
}

func (c *callLog) line(w *jsonwire.Writer) {
	c.buf = append(append(c.buf, w.Text()...), '\n')
	if len(c.buf) > heldBytes {
		c.flush()
	}
}

// flush writes the buffer to the file.
func (c *callLog) flush() {
	held := c.buf
	c.buf = nil
	if c.lost {
		return
	}
	file, err := files.OpenPrivate(c.path, os.O_APPEND|os.O_WRONLY)
	if err != nil {
		c.lose(err)
		return
	}
	_, err = file.Write(held)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		c.lose(err)
	}
}

// lose gives up the log. The call does not fail because of it.
func (c *callLog) lose(err error) {
	c.lost = true
	c.logs.log.WarnContext(c.ctx, "log of a model call lost", "err", err)
	if c.path != "" {
		_ = os.Remove(c.path)
	}
}

// close makes the log the newest one.
func (c *callLog) close() {
	if c == nil {
		return
	}
	c.flush()
	if c.lost {
		return
	}
	if err := c.logs.publish(c.path); err != nil {
		c.lose(err)
	}
}

// publish shifts every log by one, and makes the file the newest log.
func (l *Logs) publish(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := func(n int) string { return filepath.Join(l.dir, fmt.Sprintf("llm_request.%d.jsonl", n)) }
	for n := kept - 1; n > 0; n-- {
		if err := os.Rename(name(n-1), name(n)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return os.Rename(path, name(0))
}
