package stub

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
	"github.com/lockstep-dev/lockstep/harness/transport/ws"
)

// A Socket makes the response a WebSocket.
type Socket struct {
	Name string // of the stream, for the exchange
	// Watching says what is recorded. Its Start is not used.
	Watching watch.Options
	// Talk uses the socket until ctx ends, or as long as it likes. Then the connection is closed.
	Talk func(ctx context.Context, socket *ws.Peer)
}

// socket accepts an upgrade, and lets the script talk. An invalid opening handshake is a failure of the target.
func (t *responder) socket(ctx context.Context, a *Answer) {
	if err := ws.CheckRequest(&t.x.Request); err != nil {
		t.write(ctx, http.NewResponseController(t.w), t.server.refusal(err.Error(), 400))
		t.x.Failure = &transcript.Failure{Kind: transcript.FailMalformed, Phase: transcript.PhaseSend, Text: err.Error()}
		return
	}
	conn, ahead, err := http.NewResponseController(t.w).Hijack()
	if err != nil {
		t.noteHangUp(ctx, transcript.PhaseHead)
		return
	}
	header := append(ws.ResponseHeader(&t.x.Request), a.Header...)
	t.x.Head = time.Since(t.session.started)
	t.x.Response = &transcript.Response{Proto: "HTTP/1.1", Status: http.StatusSwitchingProtocols, Header: header}
	if err := writeUpgrade(ctx, conn, header); err != nil {
		_ = conn.Close()
		t.noteHangUp(ctx, transcript.PhaseHead)
		return
	}
	t.x.Stream = a.Socket.Name
	p := ws.Accept(conn, io.MultiReader(io.LimitReader(ahead.Reader, int64(ahead.Reader.Buffered())), conn), t.session.started, nil, &a.Socket.Watching)
	a.Socket.Talk(ctx, p)
	_ = p.Close()
}

func writeUpgrade(ctx context.Context, conn net.Conn, header transcript.Header) error {
	_ = conn.SetDeadline(time.Time{}) // those of the HTTP server; on a closed connection, Write returns the error
	defer context.AfterFunc(ctx, func() { _ = conn.SetWriteDeadline(time.Unix(1, 0)) })()
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 101 Switching Protocols\r\n")
	for _, f := range header {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	b.WriteString("\r\n")
	_, err := conn.Write(b.Bytes())
	return err
}
