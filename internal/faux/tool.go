package faux

import (
	"bufio"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memprocess"
)

//go:embed tooling
var tooling embed.FS

// WriteTooling writes the contract and the scenarios of a Tool into a folder.
func WriteTooling(dir string) error { return Unpack(tooling, "tooling", dir) }

// A Tool is a program that keeps items and speaks JSON-RPC 2.0 over standard input and output, a message a line, as in
// tooling/openapi.yaml. It is correct except for its Fault.
type Tool struct {
	Fault *ToolFault // nil: a correct tool
	Style *Style     // nil: the plain style
	Habit Habit
}

// A Habit is what correct tools may do differently, apart from how they write JSON.
type Habit struct {
	ID      string
	Names   bool          // its own requests have names as ids, instead of numbers
	Both    bool          // both tools must have it, because a client can see it
	From    int           // its own requests are counted from this number
	Late    time.Duration // responses take up to so long, and overtake each other
	Chatter int           // lines of standard error, before each message
	Pieces  bool          // lines are written in pieces
	Slow    time.Duration // pause before everything that it writes
	CRLF    bool          // lines end in CRLF
	Beside  bool          // standard error comes after the messages that it precedes
}

// A toolRun is one run of a Tool.
type toolRun struct {
	*Tool
	sys   *memprocess.System
	over  chan struct{} // closed when the tool returns
	exit  chan int      // a status with which it must exit
	busy  sync.WaitGroup
	mu    sync.Mutex // guards the fields below, and what is written
	items []object
	own   map[string]chan object // the responses to its own requests, by id
	asked int
	kept  []object // messages that a fault holds back
	told  int      // messages of the kind that a fault changes
}

// Main is the main function of the tool.
func (t *Tool) Main(s *memprocess.System) int {
	r := &toolRun{Tool: &Tool{t.Fault, t.Style, t.Habit}, sys: s, over: make(chan struct{}), exit: make(chan int, 1), own: map[string]chan object{}}
	if r.Fault == nil {
		r.Fault = &ToolFault{}
	}
	if r.Style == nil {
		r.Style = &Style{}
	}
	defer r.busy.Wait()
	defer close(r.over)
	for _, name := range []string{"SIGTERM", "SIGUSR1", "SIGUSR2"} {
		s.Catch(name)
	}
	if r.Fault.start != nil {
		r.Fault.start(r)
	}
	lines := make(chan string)
	go r.read(lines)
	if s.Getenv("SHELF_GREET") != "" {
		r.send(notification("hello", object{"color": s.Getenv("SHELF_COLOR")}))
	}
	return r.serve(lines)
}

func (r *toolRun) serve(lines <-chan string) int {
	for {
		select {
		case status := <-r.exit: // before the next line
			return status
		default:
		}
		select {
		case line, ok := <-lines:
			switch {
			case !ok:
				return r.eof()
			case r.Fault.take == nil || !r.Fault.take(r, line):
				r.take(line)
			}
		case name := <-r.sys.Signals:
			if ends, status := r.signalled(name); ends {
				return status
			}
		case status := <-r.exit:
			return status
		case <-r.sys.Gone:
			return -1
		}
	}
}

// read reads lines until the end of standard input.
func (r *toolRun) read(lines chan<- string) {
	defer close(lines)
	in := bufio.NewReader(r.sys.In)
	if r.Fault.deaf {
		<-r.over
		return
	}
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			select {
			case lines <- strings.TrimRight(line, "\r\n"):
			case <-r.over:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// eof answers the end of standard input.
func (r *toolRun) eof() int {
	if r.Fault.staysOpen {
		<-r.sys.Gone
		return -1
	}
	r.busy.Wait()
	r.send(notification("closed", object{"items": len(r.items)}))
	return 0
}

func (r *toolRun) signalled(name string) (ends bool, status int) {
	switch {
	case name == "SIGTERM" && r.Fault.undying:
		return false, 0
	case name == "SIGTERM":
		r.send(notification("stopping", object{"items": len(r.items)}))
		return true, r.Fault.status
	}
	r.send(notification("reloaded", object{"signal": name}))
	return false, 0
}

func notification(method string, params object) object {
	return object{"jsonrpc": "2.0", "method": method, "params": params}
}

func result(id any, value object) object { return object{"jsonrpc": "2.0", "id": id, "result": value} }

func failure(id any, code int, text string) object {
	return object{"jsonrpc": "2.0", "id": id, "error": object{"code": code, "message": text}}
}

// send writes a message. The tool may be late with responses, but never changes the order of others.
func (r *toolRun) send(m object) {
	_, isCall := m["method"]
	if r.Habit.Late == 0 || isCall {
		r.write(m)
		return
	}
	pause := time.Duration(r.Style.Below(int(r.Habit.Late)))
	r.busy.Go(func() {
		r.pause(pause)
		r.write(m)
	})
}

func (r *toolRun) pause(d time.Duration) {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-r.sys.Gone:
		}
	}
}

func (r *toolRun) write(m object) {
	r.pause(r.Habit.Slow) // without the lock, because a fake clock does not advance while somebody waits for that
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sys.Getenv("SHELF_LOG") == "" {
		for range r.Habit.Chatter {
			fmt.Fprintf(r.sys.Err, "polishing shelf %d\n", r.Style.Below(1000))
		}
	}
	if r.Fault.say == nil || !r.Fault.say(r, m) {
		r.put(m)
	}
}

// put writes a message as one line. The caller holds the lock.
func (r *toolRun) put(m object) { r.line(r.Style.JSON(m)) }

func (r *toolRun) line(text []byte) {
	end := "\n"
	if r.Habit.CRLF {
		end = "\r\n"
	}
	r.raw(string(text) + end)
}

func (r *toolRun) raw(text string) {
	pieces := []string{text}
	if r.Habit.Pieces {
		pieces = r.Style.split(text)
	}
	for _, piece := range pieces {
		io.WriteString(r.sys.Out, piece)
	}
}

// take handles a line of the client.
func (r *toolRun) take(line string) {
	if strings.HasPrefix(strings.TrimSpace(line), "[") {
		r.batch(line)
		return
	}
	if m := r.handle(line); m != nil {
		r.send(m)
		r.after(line)
	}
}

// batch answers several messages in one line.
func (r *toolRun) batch(line string) {
	var all []json.RawMessage
	if json.Unmarshal([]byte(line), &all) != nil || len(all) == 0 {
		r.send(failure(nil, -32600, "not a request"))
		return
	}
	var answers []any
	for _, one := range all {
		if m := r.handle(string(one)); m != nil {
			answers = append(answers, m)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Fault.unpacks {
		for _, m := range answers {
			r.put(m.(object))
		}
		return
	}
	r.line(r.Style.JSON(answers))
}

// A call is a message of the client.
type call struct {
	Version string          `json:"jsonrpc"`
	ID      any             `json:"id"`
	Method  *string         `json:"method"`
	Params  toolParams      `json:"params"`
	Result  map[string]any  `json:"result"`
	Error   json.RawMessage `json:"error"`
}

type toolParams struct {
	Name   *string  `json:"name"`
	ID     string   `json:"id"`
	Tag    string   `json:"tag"`
	MS     int      `json:"ms"`
	Texts  []string `json:"texts"`
	Steps  int      `json:"steps"`
	Bytes  int      `json:"bytes"`
	Text   string   `json:"text"`
	Status int      `json:"status"`
	Signal string   `json:"signal"`
	Value  any      `json:"value"`
}

// handle handles one message, and returns the response to it; nil when there is none, or it comes later.
func (r *toolRun) handle(line string) object {
	var c call
	if err := json.Unmarshal([]byte(line), &c); err != nil {
		if !json.Valid([]byte(line)) {
			return failure(nil, -32700, "not JSON")
		}
		return failure(nil, -32602, "parameters of other types")
	}
	switch {
	case c.Version != "2.0":
		return failure(nil, -32600, "not a request")
	case c.Method == nil && (c.Result != nil || c.Error != nil):
		r.answered(&c)
		return nil
	case c.Method == nil:
		return failure(nil, -32600, "not a request")
	case c.ID == nil:
		r.notified(&c)
		return nil
	}
	return r.call(&c)
}

// notified handles a notification.
func (r *toolRun) notified(c *call) {
	switch *c.Method {
	case "exit":
		r.exit <- c.Params.Status + r.Fault.status
	case "die":
		r.sys.Die(c.Params.Signal)
	}
}

// call handles a request.
func (r *toolRun) call(c *call) object {
	switch p := &c.Params; *c.Method {
	case "initialize":
		return result(c.ID, description(r.sys))
	case "echo":
		return result(c.ID, object{"value": p.Value})
	case "add":
		return r.add(c)
	case "get":
		i := slices.IndexFunc(r.items, func(it object) bool { return it["id"] == p.ID })
		if i < 0 {
			return failure(c.ID, -32004, "no such item")
		}
		return result(c.ID, r.items[i])
	case "slow":
		r.busy.Go(func() {
			r.pause(time.Duration(p.MS) * time.Millisecond)
			r.send(result(c.ID, object{"tag": p.Tag}))
		})
		return nil
	case "ask":
		r.ask(c)
		return nil
	case "count":
		for i := range p.Steps {
			r.send(notification("step", object{"step": i + 1, "of": p.Steps}))
		}
		return result(c.ID, object{"steps": p.Steps})
	case "fill":
		return result(c.ID, object{"text": strings.Repeat("x", p.Bytes)})
	case "log":
		if r.Fault.log == nil || !r.Fault.log(r, p.Text) {
			fmt.Fprintln(r.sys.Err, p.Text)
		}
		return result(c.ID, object{})
	case "cut":
		r.mu.Lock()
		defer r.mu.Unlock()
		r.raw(string(r.Style.JSON(result(c.ID, object{}))) + r.Fault.lastEnd)
		r.exit <- 0
		return nil
	}
	return failure(c.ID, -32601, "no such method")
}

// description says how the tool was started.
func description(s *memprocess.System) object {
	return object{
		"session": newID(), "args": list(s.Args), "color": s.Getenv("SHELF_COLOR"), "directory": filepath.Base(s.Dir),
	}
}

func (r *toolRun) add(c *call) object {
	if c.Params.Name == nil {
		return failure(c.ID, -32602, "name is missing")
	}
	it := object{"id": newID(), "name": *c.Params.Name}
	r.items = append(r.items, it)
	return result(c.ID, it)
}

// after sends the notification that follows a response.
func (r *toolRun) after(line string) {
	var c call
	if json.Unmarshal([]byte(line), &c) != nil || c.Method == nil || *c.Method != "add" || c.Params.Name == nil {
		return
	}
	tell := func() {
		r.send(notification("changed", object{"id": r.items[len(r.items)-1]["id"], "items": len(r.items)}))
	}
	if r.Habit.Beside {
		tell()
	}
	if r.sys.Getenv("SHELF_LOG") != "" {
		fmt.Fprintf(r.sys.Err, "added %s\n", *c.Params.Name)
	}
	if !r.Habit.Beside {
		tell()
	}
}

// ask sends the client requests, and answers when all have been answered.
func (r *toolRun) ask(c *call) {
	var waiting []chan object
	for _, text := range c.Params.Texts {
		r.mu.Lock()
		r.asked++
		var id any = r.Habit.From + r.asked
		if r.Habit.Names {
			id = newID()
		}
		if r.Fault.reuses {
			id = 1
		}
		answer := make(chan object, 1)
		r.own[fmt.Sprint(id)] = answer
		waiting = append(waiting, answer)
		r.mu.Unlock()
		r.send(object{"jsonrpc": "2.0", "id": id, "method": "confirm", "params": object{"text": text}})
	}
	r.busy.Go(func() {
		var answers []any
		for _, one := range waiting {
			if r.Fault.impatient {
				answers = append(answers, "yes")
				continue
			}
			select {
			case m := <-one:
				answers = append(answers, m["answer"])
			case <-r.sys.Gone:
				return
			}
		}
		if slices.Contains(answers, nil) {
			r.send(failure(c.ID, -32000, "the client has refused"))
			return
		}
		r.send(result(c.ID, object{"answers": answers}))
	})
}

// answered takes a response of the client.
func (r *toolRun) answered(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if answer := r.own[fmt.Sprint(c.ID)]; answer != nil {
		delete(r.own, fmt.Sprint(c.ID))
		answer <- object(c.Result)
	}
}
