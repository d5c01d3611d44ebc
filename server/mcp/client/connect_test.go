package client

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// A slowStart is a server that answers the handshake, and delivers its next message exactly when the time is over, as
// could happen by chance.
type slowStart struct {
	answers chan jsonrpc.Message
	over    chan bool
}

func (s *slowStart) Connect(context.Context) (mcp.Connection, error) { return s, nil }
func (s *slowStart) Agreed(string)                                   {}
func (s *slowStart) Stop()                                           {}
func (s *slowStart) SessionID() string                               { return "" }

func (s *slowStart) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-s.answers:
		return m, nil
	case <-s.over:
		return nil, io.EOF
	}
}

func (s *slowStart) Write(ctx context.Context, m jsonrpc.Message) error {
	request := m.(*jsonrpc.Request)
	if request.IsCall() {
		s.answers <- &jsonrpc.Response{ID: request.ID, Result: []byte(`{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)}
		return nil
	}
	<-ctx.Done()
	return nil
}

func (s *slowStart) Close() error {
	select {
	case <-s.over:
	default:
		close(s.over)
	}
	return nil
}

func TestAConnectionThatComesAfterItsTimeout(t *testing.T) {
	x, err := Connect(t.Context(), &slowStart{make(chan jsonrpc.Message, 1), make(chan bool)}, Options{Timeout: 20 * time.Millisecond, MaxMessage: 1000})
	if x != nil || !errors.Is(err, mcperror.Late(20*time.Millisecond)) {
		t.Errorf("%v, %v; want that it is late", x, err)
	}
}
