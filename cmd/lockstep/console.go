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
	redraw = 100 * time.Millisecond // between two looks at the status on a terminal
	repeat = 10 * time.Second       // between two lines about it elsewhere
)

// echo is what a terminal shows of Ctrl-C, behind the status.
const echo = "^C"

// A console is standard error while a run is under way. What is written to it stands there as it would without one. On a
// terminal the line below is the status of the run, written over and over; elsewhere, the status is a line of its own
// from time to time.
//
// No escape sequence is needed for that: a line is cleared by blanks.
type console struct {
	out    io.Writer
	status func() report.Status
	width  func() int // columns of the terminal; nil when it is none, or one that cannot write over a line

	mu      sync.Mutex
	line    string // that is shown; "" for none
	columns int    // that it may take
}

// newConsole returns the console of a command line.
func newConsole(w *world, status func() report.Status) *console {
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

// watch shows the status until stop is called or the context ends: whoever interrupts a run gets a clean line, also when
// asking twice. When stop returns, nothing of the status is left.
func (c *console) watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	every, show := repeat, c.say
	if c.width != nil {
		every, show = redraw, c.draw
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
	_, _ = io.WriteString(c, s.Plain()+"\n") // nobody is waiting for it
}

// draw writes the status over the one before.
func (c *console) draw() {
	const usual = 80
	width := c.width()
	if width <= 0 {
		width = usual
	}
	s := c.status()
	line := s.Line(width - 1 - len(echo)) // a terminal may go to the next line behind the last column
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
	blanks := min(c.columns, 2*utf8.RuneCountInString(c.line)+len(echo)) // a character takes up to two columns
	_, _ = io.WriteString(c.out, "\r"+strings.Repeat(" ", blanks)+"\r")
	c.line = ""
}
