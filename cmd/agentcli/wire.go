package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// maxLine is the most bytes that a line of the SDK may have.
const maxLine = 64 << 20

type object = map[string]any

// A wire is both directions of the pipe.
type wire struct {
	session string
	in      *bufio.Scanner
	out     io.Writer
	stderr  io.Writer
	log     io.Writer      // nil: none
	made    map[string]int // how many ids there are of each kind
}

// id returns the next id of a kind.
func (w *wire) id(kind, format string) string {
	w.made[kind]++
	return fmt.Sprintf(format, w.made[kind])
}

// send writes a line. Where a JSON object is a line, its keys are sorted.
func (w *wire) send(message object) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		return err
	}
	_, err := w.out.Write(line.Bytes())
	return err
}

// emit writes a message of the session.
func (w *wire) emit(message object) error {
	message["session_id"] = w.session
	message["uuid"] = w.id("uuid", "00000000-0000-4000-8000-%012d")
	return w.send(message)
}

// respond answers a control request of the SDK.
func (w *wire) respond(id any, payload object) error {
	response := object{"subtype": "success", "request_id": id}
	if payload != nil {
		response["response"] = payload
	}
	return w.send(object{"type": "control_response", "response": response})
}

func (w *wire) refuse(id any, code, text string) error {
	response := object{"subtype": "error", "request_id": id, "error": text}
	if code != "" {
		response["error_code"] = code
	}
	return w.send(object{"type": "control_response", "response": response})
}

// line returns a line of the SDK, or io.EOF.
func (w *wire) line() ([]byte, error) {
	if !w.in.Scan() {
		if err := w.in.Err(); err != nil {
			return nil, fmt.Errorf("read a line of the SDK: %w", err)
		}
		return nil, io.EOF
	}
	line := bytes.TrimSpace(w.in.Bytes())
	return line, w.note(string(line))
}

// note appends a line to the log.
func (w *wire) note(line string) error {
	if w.log == nil {
		return nil
	}
	if _, err := io.WriteString(w.log, line+"\n"); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	return nil
}
