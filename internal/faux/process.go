package faux

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A Process is a server that runs as a process of its own, or a program that such a server starts. Only commands may
// touch the outside world, so the main function passes in the functions that do.
type Process struct {
	Listen string                // the address to listen on
	Log    io.Writer             // where the process logs
	Exit   func(status int)      // ends the process immediately
	Again  func(id string) error // starts the program again, and waits for its first output
	Report string                // a grandchild keeps a connection to this address open until it ends; "" for none
}

// Start starts a program that writes to out, and waits for its first output on standard error.
func Start(program string, environ []string, out *os.File) error {
	said, err, cause := os.Pipe()
	if cause != nil {
		return cause
	}
	defer said.Close()
	cmd := exec.Command(program)
	cmd.Env, cmd.Stdout, cmd.Stderr = environ, out, err
	cause = cmd.Start()
	err.Close()
	if cause == nil {
		_, cause = said.Read(make([]byte, 1))
	}
	return cause
}

// Play runs the process until the context ends, and returns its exit status. The id is that of a process fault or of
// a stamp, or "right", or "grandchild".
func (p *Process) Play(ctx context.Context, id string) int {
	f := &Fault{}
	for _, known := range slices.Concat(processFaults, Stamps()) {
		if known.ID == id {
			f = known
		}
	}
	switch {
	case id == "grandchild":
		return p.outlive()
	case f.ID != id && id != "right":
		fmt.Fprintf(p.Log, "there is no fault %q\n", id)
		return 2
	case f.start != nil && !f.start(p):
		return 3
	}
	l, err := net.Listen("tcp", p.Listen)
	if err != nil {
		fmt.Fprintln(p.Log, err)
		return 1
	}
	s := &Server{Fault: f, Exit: func(status int) {
		fmt.Fprintln(p.Log, "panic: assignment to entry in nil map")
		p.Exit(status)
	}}
	fmt.Fprintln(p.Log, "listening")
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case <-ctx.Done():
	case err := <-served:
		fmt.Fprintln(p.Log, err)
		return 1
	}
	if f.end != nil {
		return f.end(p)
	}
	s.Close()
	return 0
}

// outlive does nothing until the other end of its connection closes. It ignores all requests to end.
func (p *Process) outlive() int {
	c, err := net.Dial("tcp", p.Report)
	if err != nil {
		fmt.Fprintln(p.Log, err)
		return 1
	}
	fmt.Fprintln(p.Log, "reported")
	io.Copy(io.Discard, c)
	return 0
}

// Processes lists faults in the start and the end of a process.
func Processes() []*Fault { return processFaults }

var processFaults = []*Fault{
	{
		ID: "exits-at-start", Doc: "it prints an error and exits", In: "items/story",
		Reason: `start target "‹name›": exited before it was ready: exit status 3 (lockstep.yaml:‹line›)`, Log: "the disk is full",
		start: func(p *Process) bool {
			fmt.Fprintf(p.Log, "opening the shelves\nthe disk is full\n")
			return false
		},
	},
	{
		ID: "never-ready", Doc: "it listens, but is never ready", In: "items/story",
		Reason: `start target "‹name›": not ready within ‹time› (lockstep.yaml:‹line›): GET http://127.0.0.1:‹port›/health: 503 Service Unavailable; 200 to 299 is wanted: correct ready, or the server`, Log: "listening",
		answer: func(a *answer) { a.say(http.StatusServiceUnavailable, nil, "") },
	},
	{
		ID: "exits-in-answer", Doc: "it exits in the middle of a response", In: "items/story",
		Says: []Finding{
			{shortfall, "target-exited", "3", "process", "to go on", "exit status 3", candidate},
		},
		Reason: "the process ended: exit status 3", Log: "panic: assignment to entry in nil map",
		answer: instead(read, func(w *wire, head, body []byte) {
			w.framed(head, len(body), body[:len(body)/2])
			w.server.Exit(3)
		}),
	},
	{
		ID: "exits-before-answer", Doc: "it exits instead of answering", In: "items/story",
		Says: []Finding{
			{shortfall, "target-exited", "3", "process", "to go on", "exit status 3", candidate},
		},
		Reason: "the process ended: exit status 3", Log: "panic: assignment to entry in nil map",
		answer: instead(read, func(w *wire, _, _ []byte) { w.server.Exit(3) }),
	},
	{
		ID: "exits-between-answers", Doc: "it exits between two requests", In: "items/story",
		Says: []Finding{
			{shortfall, "target-exited", "4", "process", "to go on", "exit status 3", candidate},
		},
		Reason: "the process ended: exit status 3", Log: "panic: assignment to entry in nil map",
		answer: instead(read, func(w *wire, head, body []byte) {
			w.framed(head, len(body), body)
			w.server.Exit(3)
		}),
	},
	{
		ID: "exits-behind-a-stream", Doc: "it ends a stream correctly, and exits a moment later", In: "events/end",
		Says: []Finding{
			{shortfall, "target-exited", "3", "process", "to go on", "exit status 3", candidate},
		},
		Reason: "the process ended: exit status 3", Log: "panic: assignment to entry in nil map",
		event: func(s *stream, ev event) {
			if s.send(ev); s.sent == s.last {
				time.AfterFunc(50*time.Millisecond, func() { s.server.Exit(3) })
			}
		},
	},
	{
		ID: "ends-badly", Doc: "it exits with status 1 on SIGTERM", In: "process/stop",
		Says: []Finding{
			{shortfall, "target-not-stopped", "2", "exit", "exit status 0", "exit status 1", candidate},
		},
		end: func(*Process) int { return 1 },
	},
	{
		ID: "does-not-end", Doc: "it ignores SIGTERM, and so does the process that it has started", In: "process/stop",
		Says: []Finding{
			{shortfall, "target-not-stopped", "2", "exit", "exit status 0", `terminate target "wrong": still running after SIGTERM: the step's 1s were over`, candidate},
		},
		start: func(p *Process) bool {
			if err := p.Again("grandchild"); err != nil {
				fmt.Fprintln(p.Log, err)
				return false
			}
			return true
		},
		end: func(*Process) int { select {} },
	},
	{
		ID: "talks-too-much", Doc: "it floods its log, which is not a mistake", In: "items/story",
		start: func(p *Process) bool {
			io.WriteString(p.Log, strings.Repeat("polishing the shelves\n", 100_000))
			return true
		},
	},
}
