package main

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/report"
)

const (
	drawInterval = 100 * time.Millisecond // between two looks at the status on a terminal
	logInterval  = 10 * time.Second       // between two lines about it elsewhere
)

// interruptEcho is what a terminal shows after the status when Ctrl-C is pressed.
const interruptEcho = "^C"

// A console is standard error while a run is under way. It passes on what is written to it. On a terminal it also keeps the
// status of the run in the last line; elsewhere it prints the status as a line from time to time. It needs no escape
// sequences, because it clears a line with blanks.
type console struct {
	out    io.Writer
	status func() report.Status
	width  func() int // columns of the terminal; nil when it is none, or one that cannot write over a line

	mu      sync.Mutex
	line    string // that is shown; "" for none
	columns int    // that it may take
}

// newConsole returns the console of a command line.
func newConsole(w *environment, status func() report.Status) *console {
	c := &console{out: w.stderr, status: status}
	if w.errorTerminal && w.getenv("TERM") != "dumb" {
		c.width = w.width
		if c.width == nil {
			c.width = func() int { return 0 }
		}
	}
	return c
}

// Write writes in the place of the status, which comes back below with the next look at it.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	return c.out.Write(p)
}

// watch shows the status until stop is called or the context ends. Then it clears the line, also after a second interrupt.
func (c *console) watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	every, show := logInterval, c.say
	if c.width != nil {
		every, show = drawInterval, c.draw
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				_, _ = c.Write(nil)
				return
			case <-ticker.C:
				show()
			}
		}
	})
	return func() { cancel(); watching.Wait() }
}

// say writes the status as a line of a log.
func (c *console) say() {
	s := c.status()
	_, _ = io.WriteString(c, s.Plain()+"\n") // an error would only cost this line
}

// draw writes the status over the one before.
func (c *console) draw() {
	const usual = 80
	width := c.width()
	if width <= 0 {
		width = usual
	}
	s := c.status()
	line := s.Line(width - 1 - len(interruptEcho)) // a terminal may go to the next line after the last column
	c.mu.Lock()
	defer c.mu.Unlock()
	if line == c.line {
		return
	}
	c.clear()
	c.line, c.columns = line, width-1
	_, _ = io.WriteString(c.out, line)
}

// clear takes the status away.
func (c *console) clear() {
	if c.line == "" {
		return
	}
	blanks := min(c.columns, 2*utf8.RuneCountInString(c.line)+len(interruptEcho)) // a character takes up to two columns
	_, _ = io.WriteString(c.out, "\r"+strings.Repeat(" ", blanks)+"\r")
	c.line = ""
}
