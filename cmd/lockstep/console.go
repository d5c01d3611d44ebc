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
	drawInterval = 100 * time.Millisecond // how often the status is redrawn on a terminal
	logInterval  = 10 * time.Second       // how often it is printed elsewhere
)

// interruptEcho is what a terminal appends to the status when Ctrl-C is pressed.
const interruptEcho = "^C"

// A console writes to standard error during a run. On a terminal it also keeps the status of the run in the last
// line; elsewhere it prints the status from time to time. It needs no escape sequences, because it clears a line with
// blanks.
type console struct {
	out    io.Writer
	status func() report.Status
	width  func() int // columns of the terminal; nil if it is not a terminal, or cannot overwrite a line

	mu      sync.Mutex
	line    string // the status on the screen; "" for none
	columns int    // the width that the line may take
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

// Write replaces the status with the text. The next redraw shows the status below it.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	return c.out.Write(p)
}

// watch shows the status until stop is called or the context ends. It clears the line at once when the context ends, so
// that the line is clear even if a second interrupt kills the program.
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

// say prints the status as a line of a log.
func (c *console) say() {
	s := c.status()
	_, _ = io.WriteString(c, s.Plain()+"\n") // a failed write loses only this line
}

// draw overwrites the last line with the current status.
func (c *console) draw() {
	const usual = 80
	width := c.width()
	if width <= 0 {
		width = usual
	}
	s := c.status()
	line := s.Line(width - 1 - len(interruptEcho)) // leaves the last column free, because some terminals wrap there
	c.mu.Lock()
	defer c.mu.Unlock()
	if line == c.line {
		return
	}
	c.clear()
	c.line, c.columns = line, width-1
	_, _ = io.WriteString(c.out, line)
}

// clear removes the status from the screen.
func (c *console) clear() {
	if c.line == "" {
		return
	}
	blanks := min(c.columns, 2*utf8.RuneCountInString(c.line)+len(interruptEcho)) // a character is at most two columns wide
	_, _ = io.WriteString(c.out, "\r"+strings.Repeat(" ", blanks)+"\r")
	c.line = ""
}
