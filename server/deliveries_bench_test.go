package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
)

// BenchmarkBothExecute measures executions on the Go server and on the reference, with eight callers at once. Each has
// a client with a tool, which answers at once: over an event stream and HTTP, or over a socket.
func BenchmarkBothExecute(b *testing.B) {
	const executions = 400 // per round
	for _, wire := range []struct {
		name    string
		connect func(b *testing.B, p *program, clientID string, serving *sync.WaitGroup)
	}{
		{"stream", connectStream},
		{"socket", connectSocket},
	} {
		b.Run(wire.name, func(b *testing.B) {
			both := startBoth(b, http.NotFound)
			for _, p := range both {
				var serving sync.WaitGroup
				b.Cleanup(serving.Wait)
				for i := range clients {
					wire.connect(b, p, fmt.Sprint("c", i), &serving)
				}
			}
			took := reportBoth(b, both, executions, "deliveries/s", func(p *program) func(int) {
				return func(i int) {
					body := p.post(b, "/client-tools/execute", fmt.Sprintf(`{"toolID":"client_c%d_a","input":{"n":%d}}`, i%clients, i))
					if want := fmt.Sprintf(`"output":"%d"`, i); !strings.Contains(string(body), want) {
						b.Errorf("%s: %s, want %s in it", p.name, body, want)
					}
				}
			})
			reportPercentile(b, both, took, 99)
		})
	}
}

// benchTool is the definition of the clients' tool.
const benchTool = `{"id":"a","description":"","parameters":{}}`

// answerTo returns the members of a result: the tool returns the number in its input.
func answerTo(request []byte) (members string, err error) {
	var r struct {
		RequestID string
		Input     struct{ N int }
	}
	err = json.Unmarshal(request, &r)
	return fmt.Sprintf(`"requestID":%q,"result":{"status":"success","title":"","output":"%d"}`, r.RequestID, r.Input.N), err
}

// connectStream connects a client with a tool that answers over HTTP until the benchmark ends.
func connectStream(b *testing.B, p *program, clientID string, serving *sync.WaitGroup) {
	b.Helper()
	resp, err := p.client.Get("http://" + p.addr + "/client-tools/pending/" + clientID)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { resp.Body.Close() })
	p.post(b, "/client-tools/register", `{"clientID":"`+clientID+`","tools":[`+benchTool+`]}`)
	serving.Go(func() {
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			request, ok := strings.CutPrefix(lines.Text(), "data: {")
			if !ok {
				continue
			}
			answer, err := answerTo([]byte("{" + request))
			if err != nil {
				b.Error(err)
			}
			p.post(b, "/client-tools/result", "{"+answer+"}")
		}
	})
}

// connectSocket connects a client with a tool that answers over its socket until the benchmark ends.
func connectSocket(b *testing.B, p *program, clientID string, serving *sync.WaitGroup) {
	b.Helper()
	ctx := context.Background()
	conn, _, err := websocket.Dial(ctx, "http://"+p.addr+"/client-tools/ws/"+clientID, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.CloseNow() })
	write := func(message string) {
		if err := conn.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			b.Error(err)
		}
	}
	write(`{"type":"register","tools":[` + benchTool + `]}`)
	if _, _, err := conn.Read(ctx); err != nil {
		b.Fatal(err)
	}
	serving.Go(func() {
		for {
			_, text, err := conn.Read(ctx)
			if err != nil {
				return // the benchmark is over, or the executions fail
			}
			var message struct{ Request json.RawMessage }
			err = json.Unmarshal(text, &message)
			answer, unread := answerTo(message.Request)
			if err != nil || unread != nil {
				b.Errorf("%s sends %s: %v, %v", p.name, text, err, unread)
			}
			write(`{"type":"result",` + answer + `}`)
		}
	})
}
