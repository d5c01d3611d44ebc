package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// maxPrompts is the number of prompts that may wait.
const maxPrompts = 1000

// A cli is one process. It does one thing at a time: lines of the SDK are read while a step waits, and between turns.
type cli struct {
	wire   *wire
	script *script
	args   []string

	model, mode string
	servers     []*server
	hooks       map[string][]matcher // by event
	prompts     []prompt             // that have come, and wait
	seen        map[string]int       // the control requests of this turn that no step has waited for

	waiting     string // the id of the request that waits
	answer      object // the answer to it
	call        *call  // the tool call that waits for its answer
	running     bool   // a turn
	interrupted bool
}

// A prompt is a user message of the SDK.
type prompt struct{ text, uuid string }

// A call is a tool call on its way to the SDK.
type call struct {
	server string
	id     int // of JSON-RPC
}

// errInterrupted ends a turn.
var errInterrupted = errors.New("the SDK has interrupted the turn")

// ask sends a control request, and waits for the response.
func (c *cli) ask(request object) (object, error) {
	c.waiting, c.answer = c.wire.id("request", "cli_%d"), nil
	defer func() { c.waiting, c.answer = "", nil }()
	if err := c.wire.send(object{"type": "control_request", "request_id": c.waiting, "request": request}); err != nil {
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
	line, err := c.wire.line()
	if err != nil {
		return err
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
