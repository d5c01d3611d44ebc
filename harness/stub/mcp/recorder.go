package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/harness/stub/mcp/record"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

type recorder struct {
	mu   sync.Mutex
	file *os.File // nil when nothing is recorded
	err  error
}

func openRecorder(path string) (*recorder, error) {
	if path == "" {
		return &recorder{}, nil
	}
	if err := regular.CheckOutput(path); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return &recorder{file: file}, nil
}

func (r *recorder) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

func (r *recorder) add(msg jsonrpc.Message) {
	if r.file == nil {
		return
	}
	m := record.Message{At: time.Now()}
	switch msg := msg.(type) {
	case *jsonrpc.Request:
		m.Method, m.Body = msg.Method, msg.Params
	case *jsonrpc.Response:
		if m.Body = msg.Result; msg.Error != nil {
			m.Body = failure(msg.Error)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	err := record.Write(r.file, m)
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("record: %w", err)
	}
}

// failure formats an error response of the client: {"error":{"code":…,"message":…}}.
func failure(err error) json.RawMessage {
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		wire = &jsonrpc.Error{Message: err.Error()}
	}
	out, _ := json.Marshal(map[string]any{"error": wire}) // cannot fail: its fields are a number, a text, and JSON
	return out
}

// recorded is a transport that records incoming messages before the server handles them.
type recorded struct {
	mcp.Transport
	recorder *recorder
}

// Connect implements mcp.Transport.
func (t *recorded) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return &recordedConnection{c, t.recorder}, err
}

type recordedConnection struct {
	mcp.Connection
	recorder *recorder
}

// Read implements mcp.Connection.
func (c *recordedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err == nil {
		c.recorder.add(msg)
	}
	return msg, err
}
