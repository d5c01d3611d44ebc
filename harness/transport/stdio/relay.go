package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Start is the body of the request with which a relay asks its stub to begin.
type Start struct {
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env,omitempty"`
	Directory string            `json:"directory"`
}

// Upgrade is the protocol that a relay and its stub change to.
const Upgrade = "lockstep-program"

// A Relay is the process that a target starts instead of a program. It passes everything on to the stub, and does what
// the stub says.
type Relay struct {
	In          io.Reader
	Out, Errors io.Writer
	// Signals are the names of the signals that come.
	Signals <-chan string
}

// linger is how long a relay waits at its end for the stub to have read everything.
const linger = 2 * time.Second

// Run plays the program of a stub at a URL. It returns when the program has ended: with a status, or by a signal, which
// the caller must raise. The error says why there is no program; nothing was written then.
func (r *Relay) Run(ctx context.Context, url string, start Start) (status int, signal string, err error) {
	conn, input, err := dial(ctx, url, start)
	if err != nil {
		return 0, "", err
	}
	defer conn.Close()
	up := &upstream{to: json.NewEncoder(conn)}
	go r.passInput(up) // it ends with the process
	pieces := make(chan Piece)
	done := make(chan struct{})
	defer close(done)
	go func() {
		defer close(pieces)
		for in := json.NewDecoder(input); ; {
			var p Piece
			if in.Decode(&p) != nil {
				return
			}
			select {
			case pieces <- p:
			case <-done:
				return
			}
		}
	}()
	defer func() {
		up.send(Piece{Item: transcript.ItemExit})
		if c, ok := conn.(*net.TCPConn); ok {
			_ = c.CloseWrite() // a close with unread bytes would lose what was sent last
		}
		drain(pieces)
	}()
	for {
		select {
		case <-ctx.Done():
			return 1, "", nil
		case name := <-r.Signals:
			up.send(Piece{Item: transcript.ItemSignal, Data: []byte(name)})
			return 0, name, nil
		case p, ok := <-pieces:
			if !ok { // the scenario is over
				return 1, "", nil
			}
			status, signal, ended := r.do(p)
			if ended {
				return status, signal, nil
			}
		}
	}
}

// do does what the stub says.
func (r *Relay) do(p Piece) (status int, signal string, ended bool) {
	switch p.Item {
	case transcript.ItemBytes:
		if _, err := r.Out.Write(p.Data); err != nil {
			return 0, "SIGPIPE", true
		}
	case transcript.ItemStderr:
		_, _ = r.Errors.Write(p.Data) // as most programs, it does not mind that nobody reads its errors
	case transcript.ItemExit:
		return p.Status, "", true
	case transcript.ItemSignal:
		return 0, string(p.Data), true
	}
	return 0, "", false
}

// An upstream sends pieces to the stub.
type upstream struct {
	mu sync.Mutex
	to *json.Encoder
}

func (u *upstream) send(p Piece) {
	u.mu.Lock()
	defer u.mu.Unlock()
	_ = u.to.Encode(p) // if the stub is gone, its pieces end too
}

func (r *Relay) passInput(up *upstream) {
	buf := make([]byte, maxPiece)
	for {
		n, err := r.In.Read(buf)
		if n > 0 {
			up.send(Piece{Item: transcript.ItemBytes, Data: buf[:n]})
		}
		if err != nil {
			up.send(Piece{Item: transcript.ItemEOF})
			return
		}
	}
}

// drain waits until the stub has closed its side.
func drain(pieces <-chan Piece) {
	timeout := time.After(linger)
	for {
		select {
		case _, ok := <-pieces:
			if !ok {
				return
			}
		case <-timeout:
			return
		}
	}
}

// dial asks a stub to begin.
func dial(ctx context.Context, url string, start Start) (net.Conn, io.Reader, error) {
	body, err := json.Marshal(start)
	if err != nil {
		return nil, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", Upgrade)
	req.Header.Set("Content-Type", "application/json")
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", req.URL.Host)
	if err != nil {
		return nil, nil, fmt.Errorf("the stub is not running: %w", err)
	}
	input := bufio.NewReader(conn)
	if err = req.Write(conn); err == nil {
		var resp *http.Response
		if resp, err = http.ReadResponse(input, req); err == nil && resp.StatusCode != http.StatusSwitchingProtocols {
			text, _ := io.ReadAll(io.LimitReader(resp.Body, maxPiece))
			err = fmt.Errorf("the stub has no program for this: %s", text)
		}
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	return conn, input, nil
}
