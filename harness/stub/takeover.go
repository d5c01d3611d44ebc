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
)

// A Takeover makes the response an upgrade: the connection gets another protocol.
type Takeover struct {
	Name string // of the stream, for the exchange
	// Accept returns the fields of the response that accepts the upgrade. The error says why the request is not a valid
	// one, which is a failure of the target.
	Accept func(r *transcript.Request) (transcript.Header, error)
	// Talk uses the connection until ctx ends, or as long as it likes, and closes it. The target's next bytes are read
	// from input.
	Talk func(ctx context.Context, conn net.Conn, input io.Reader)
}

// takeover accepts an upgrade, and gives the connection away.
func (t *responder) takeover(ctx context.Context, a *Answer) {
	header, err := a.Takeover.Accept(&t.x.Request)
	if err != nil {
		t.write(ctx, http.NewResponseController(t.w), t.server.refusal(err.Error(), 400))
		t.x.Failure = &transcript.Failure{Kind: transcript.FailMalformed, Phase: transcript.PhaseSend, Text: err.Error()}
		return
	}
	conn, ahead, err := http.NewResponseController(t.w).Hijack()
	if err != nil {
		t.noteHangUp(ctx, transcript.PhaseHead)
		return
	}
	header = append(header, a.Header...)
	t.x.Head = time.Since(t.session.started)
	t.x.Response = &transcript.Response{Proto: "HTTP/1.1", Status: http.StatusSwitchingProtocols, Header: header}
	if err := writeUpgrade(ctx, conn, header); err != nil {
		_ = conn.Close()
		t.noteHangUp(ctx, transcript.PhaseHead)
		return
	}
	t.x.Stream = a.Takeover.Name
	a.Takeover.Talk(ctx, conn, io.MultiReader(io.LimitReader(ahead.Reader, int64(ahead.Reader.Buffered())), conn))
}

func writeUpgrade(ctx context.Context, conn net.Conn, header transcript.Header) error {
	_ = conn.SetDeadline(time.Time{}) // those of the HTTP server; on a closed connection, Write returns the error
	stop := context.AfterFunc(ctx, func() { _ = conn.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	for _, f := range header {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	b.WriteString("\r\n")
	_, err := conn.Write(b.Bytes())
	return err
}
