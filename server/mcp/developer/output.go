package developer

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	unicodeutf8 "unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/mcp/arguments"
)

// output collects the output of a command and reports each line as it arrives. Its text may be read only after close.
type output struct {
	log     func(data any)
	over    chan struct{} // closed when both streams have ended
	tooMuch chan struct{} // closed when there is too much output
	ends    []*os.File

	mu         sync.Mutex
	text       strings.Builder
	characters int
	tooMany    bool
	untold     []printedLine // not yet sent to the client
	telling    bool

	tellers sync.WaitGroup
}

// start starts the command and begins to read its output.
func (o *output) start(cmd *exec.Cmd) error {
	o.over, o.tooMuch = make(chan struct{}), make(chan struct{})
	names := []string{"stdout", "stderr"}
	var theirs []*os.File
	defer func() {
		for _, end := range theirs {
			end.Close()
		}
	}()
	for range names {
		read, write, err := os.Pipe()
		if err != nil {
			return err
		}
		o.ends, theirs = append(o.ends, read), append(theirs, write)
	}
	cmd.Stdout, cmd.Stderr = theirs[0], theirs[1]
	if err := cmd.Start(); err != nil {
		close(o.over)
		o.close(context.Background())
		return err
	}
	var reading sync.WaitGroup
	for i, name := range names {
		reading.Go(func() { o.read(name, o.ends[i]) })
	}
	go func() {
		reading.Wait()
		close(o.over)
	}()
	return nil
}

// close stops reading. It returns when all lines are sent to the client, or dropped because the context has ended.
func (o *output) close(ctx context.Context) {
	for _, end := range o.ends {
		end.Close()
	}
	<-o.over
	if ctx.Err() != nil {
		o.mu.Lock()
		o.untold = nil
		o.mu.Unlock()
	}
	o.tellers.Wait()
}

func (o *output) read(stream string, from io.Reader) {
	var pending []byte
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		pending = append(pending, buffer[:n]...)
		rest := pending
		for {
			line, after, whole := bytes.Cut(rest, []byte("\n"))
			if !whole {
				break
			}
			o.add(stream, line)
			rest = after
		}
		pending = append(pending[:0], rest...)
		if len(pending) > unicodeutf8.UTFMax*maxCharacters { // that is too many characters in any case
			o.add(stream, pending)
			pending = nil
		}
		if err != nil {
			break
		}
	}
	if len(pending) > 0 {
		o.add(stream, pending)
	}
}

// add adds a line, unless there are too many characters.
func (o *output) add(stream string, raw []byte) {
	line := arguments.UTF8(string(raw))
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tooMany {
		return
	}
	if o.characters += unicodeutf8.RuneCountInString(line) + 1; o.characters > maxCharacters {
		o.tooMany, o.untold = true, nil
		close(o.tooMuch)
		return
	}
	o.text.WriteString(line + "\n")
	if trimmed := strings.TrimSpace(line); trimmed != "" {
		o.untold = append(o.untold, printedLine{"shell_output", stream, trimmed})
		if !o.telling {
			o.telling = true
			o.tellers.Go(o.tell)
		}
	}
}

// tell sends lines to the client until none is left. Reading continues meanwhile, so that too much output is noticed
// soon.
func (o *output) tell() {
	for {
		o.mu.Lock()
		if len(o.untold) == 0 {
			o.telling = false
			o.mu.Unlock()
			return
		}
		next := o.untold[0]
		o.untold = o.untold[1:]
		o.mu.Unlock()
		o.log(next)
	}
}

// A printedLine is what the client receives while a command runs (GA 28.2).
type printedLine struct {
	Type   string `json:"type"`
	Stream string `json:"stream"`
	Output string `json:"output"`
}
