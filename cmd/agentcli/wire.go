package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	maxLine    = 64 << 20 // bytes of a line of the SDK
	maxPrompts = 1000     // that wait
)

type object = map[string]any

// A cli is one process. It does one thing at a time: lines of the SDK are read while a step waits, and between turns.
type cli struct {
	script *script
	args   []string
	in     *bufio.Scanner
	out    io.Writer
	stderr io.Writer
	log    io.Writer // nil: none

	model, mode string
	servers     []*server
	hooks       map[string][]matcher // by event
	prompts     []prompt             // that have come, and wait
	seen        map[string]int       // the control requests of this turn that no step has waited for

	made    map[string]int // how many ids there are of each kind
	waiting string         // the id of the request that waits
	answer  object         // the answer to it
	call    *call          // the tool call that waits for its answer

	running     bool // a turn
	interrupted bool
	inTool      bool   // the interrupt came during a tool use
	last        string // the text of the last tool result
	said        string // the last text
	denials     []any
	cost        float64
	results     int
	failed      bool // the last result was an error
}

// A prompt is a user message of the SDK.
type prompt struct{ text, uuid string }

// A call is a tool call on its way to the SDK.
type call struct {
	server string
	id     int // of JSON-RPC
}

func newCLI(s *script, args []string, stdin io.Reader, stdout, stderr io.Writer) *cli {
	in := bufio.NewScanner(stdin)
	in.Buffer(make([]byte, 64<<10), maxLine)
	return &cli{script: s, args: args, in: in, out: stdout, stderr: stderr, model: s.model, mode: flag(args, "--permission-mode", "default"), made: map[string]int{}, seen: map[string]int{}}
}

// id returns the next id of a kind.
func (c *cli) id(kind, format string) string {
	c.made[kind]++
	return fmt.Sprintf(format, c.made[kind])
}

// send writes a line. Where a JSON object is a line, its keys are sorted.
func (c *cli) send(message object) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		return err
	}
	_, err := c.out.Write(line.Bytes())
	return err
}

// emit writes a message of the session.
func (c *cli) emit(message object) error {
	message["session_id"] = c.script.session
	message["uuid"] = c.id("uuid", "00000000-0000-4000-8000-%012d")
	return c.send(message)
}

// respond answers a control request of the SDK.
func (c *cli) respond(id any, payload object) error {
	response := object{"subtype": "success", "request_id": id}
	if payload != nil {
		response["response"] = payload
	}
	return c.send(object{"type": "control_response", "response": response})
}

func (c *cli) refuse(id any, code, text string) error {
	response := object{"subtype": "error", "request_id": id, "error": text}
	if code != "" {
		response["error_code"] = code
	}
	return c.send(object{"type": "control_response", "response": response})
}

// errInterrupted ends a turn.
var errInterrupted = errors.New("the SDK has interrupted the turn")

// ask sends a control request, and waits for the response.
func (c *cli) ask(request object) (object, error) {
	c.waiting, c.answer = c.id("request", "cli_%d"), nil
	defer func() { c.waiting, c.answer = "", nil }()
	if err := c.send(object{"type": "control_request", "request_id": c.waiting, "request": request}); err != nil {
		return nil, err
	}
	err := c.until(func() bool { return c.answer != nil })
	return c.answer, err
}

// until reads lines until a condition holds, or until an interrupt.
func (c *cli) until(holds func() bool) error {
	for !holds() {
		if err := c.read(); err != nil {
			return err
		}
		if c.interrupted && c.running {
			return errInterrupted
		}
	}
	return nil
}

// read reads a line, and does what it says.
func (c *cli) read() error {
	if !c.in.Scan() {
		if err := c.in.Err(); err != nil {
			return fmt.Errorf("read a line of the SDK: %w", err)
		}
		return io.EOF
	}
	line := bytes.TrimSpace(c.in.Bytes())
	if c.log != nil {
		if _, err := fmt.Fprintf(c.log, "%s\n", line); err != nil {
			return fmt.Errorf("write the log: %w", err)
		}
	}
	if len(line) == 0 {
		return nil
	}
	var value any
	if err := json.Unmarshal(line, &value); err != nil || value == nil {
		return fmt.Errorf("the SDK has sent a line that is not a JSON object: %s", short(string(line)))
	}
	message, _ := value.(object)
	switch message["type"] {
	case "control_request":
		return c.serve(message)
	case "control_response":
		if response, _ := message["response"].(object); response["request_id"] == c.waiting && c.waiting != "" {
			c.answer = response
		}
	case "user":
		return c.prompted(message)
	}
	return nil
}

func (c *cli) prompted(message object) error {
	body, _ := message["message"].(object)
	if body["role"] != "user" {
		return errors.New(`the SDK has sent a user line without message.role "user"`)
	}
	if len(c.prompts) == maxPrompts {
		return fmt.Errorf("%d prompts wait: the SDK must wait for results", maxPrompts)
	}
	uuid, _ := message["uuid"].(string)
	c.prompts = append(c.prompts, prompt{textOf(body["content"]), uuid})
	c.seen["prompt"]++
	return nil
}

// take returns the oldest prompt, and removes it.
func (c *cli) take() prompt {
	first := c.prompts[0]
	c.prompts = slices.Delete(c.prompts, 0, 1)
	return first
}

// textOf returns the text of content: a string, or a list of blocks.
func textOf(content any) string {
	text, _ := content.(string)
	blocks, _ := content.([]any)
	for _, b := range blocks {
		block, _ := b.(object)
		part, _ := block["text"].(string)
		text += part
	}
	return text
}

// short returns the beginning of a text.
func short(text string) string {
	const most = 200
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
