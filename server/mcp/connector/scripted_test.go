package connector

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/mcp/client"
)

// script implements a server without a library, for any transport. Its tools are:
//
//   - size {"bytes":n}: answers with a message of exactly n bytes.
//   - deep {"levels":n}: answers with a message of exactly n levels.
//   - silent: does not answer.
//   - half: answers with half a message.
//   - roots: asks for the roots, and answers with the error that it gets. It works only over standard input and output.
//   - ask {"questions":n}: asks the user n times, with the IDs q0, q1 and so on, and does not answer.
//
// The cursor of the first request sets the number of pages of the list of tools; see page. Page 3 of a list of 5 never comes.
func script(message []byte) (answers []string) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name, Cursor string
			Arguments    struct{ Bytes, Questions, Levels int }
		}
		Error struct {
			Code    int
			Message string
		}
	}
	if json.Unmarshal(message, &m) != nil || m.ID == nil {
		return nil
	}
	if call, ok := strings.CutPrefix(string(m.ID), `"roots of `); ok {
		return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`,
			strings.TrimSuffix(call, `"`), fmt.Sprint(m.Error.Code, ": ", m.Error.Message))}
	}
	if m.Method == "" {
		return nil
	}
	result := func(text string) []string {
		return []string{`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + text + `}`}
	}
	switch m.Method {
	case "initialize":
		return result(`{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)
	case "tools/list":
		return result(page(m.Params.Cursor))
	}
	switch m.Params.Name {
	case "size":
		around := len(result(`{"content":[{"type":"text","text":""}]}`)[0])
		return result(`{"content":[{"type":"text","text":"` + strings.Repeat("x", m.Params.Arguments.Bytes-around) + `"}]}`)
	case "deep":
		deep := m.Params.Arguments.Levels - 4 // without those of the message, its result, the content and the item
		return result(`{"content":[{"type":"text","text":"deep","_meta":` + strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep) + `}]}`)
	case "roots":
		return []string{`{"jsonrpc":"2.0","id":"roots of ` + string(m.ID) + `","method":"roots/list"}`}
	case "half":
		return []string{`{"jsonrpc":"2.0","id":` + string(m.ID) + `,`}
	case "ask":
		for n := range m.Params.Arguments.Questions {
			answers = append(answers, fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}`, n))
		}
	}
	return answers
}

// page returns one page of an endless list of tools.
func page(cursor string) string {
	n := 0
	fmt.Sscan(cursor, &n)
	return fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{}}],"nextCursor":"%d"}`, n, n+1)
}

// followScript runs a server over standard input and output.
func followScript(in io.Reader, out io.Writer) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		for _, answer := range script(line) {
			io.WriteString(out, answer+"\n")
		}
	}
}

// A heard records what a scripted server received over HTTP.
type heard struct {
	mu       sync.Mutex
	messages []string
	more     chan struct{} // has a token when a message has arrived
}

func (h *heard) add(message []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, string(message))
	select {
	case h.more <- struct{}{}:
	default:
	}
}

// await waits until n messages contain a text.
func (h *heard) await(t *testing.T, text string, n int) {
	t.Helper()
	guard := time.After(patience)
	for h.count(text) != n {
		select {
		case <-h.more:
		case <-guard:
			t.Fatalf("%d messages with %s within %s, want %d", h.count(text), text, patience, n)
		}
	}
}

// count returns how many messages contain a text.
func (h *heard) count(text string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, message := range h.messages {
		if strings.Contains(message, text) {
			n++
		}
	}
	return n
}

// streamableScript is a server over streamable HTTP that answers with JSON or with event streams.
func streamableScript(h *heard, events bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.add(body)
		answers := script(body)
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case strings.Contains(string(body), `"method":"tools/call"`) && (len(answers) == 0 || strings.Contains(answers[0], `"method"`)):
			for _, answer := range answers {
				sendEvents(w, "data: "+answer+"\n\n")
			}
			<-r.Context().Done()
		case len(answers) == 0:
			w.WriteHeader(http.StatusAccepted)
		case events:
			sendEvents(w, "data: "+answers[0]+"\n\n")
		default:
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, answers[0])
		}
	}
}

// sseScript is a server over the older transport.
func sseScript(h *heard) http.HandlerFunc {
	outgoing := make(chan string, 100)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			h.add(body)
			w.WriteHeader(http.StatusAccepted)
			for _, answer := range script(body) {
				outgoing <- answer
			}
			return
		}
		sendEvents(w, "event: endpoint\ndata: /messages\n\n")
		for {
			select {
			case answer := <-outgoing:
				sendEvents(w, "event: message\ndata: "+answer+"\n\n")
			case <-r.Context().Done():
				return
			}
		}
	}
}

// overAll runs a test with a scripted server on each transport, with a time limit of one second if limited is true.
func overAll(t *testing.T, limited bool, test func(t *testing.T, s *Set, h *heard)) {
	for _, kind := range []string{"stdio", "streamable_http, JSON", "streamable_http, events", "sse"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel() // the tests of time limits mostly wait
			h := &heard{more: make(chan struct{}, 1)}
			config := extension.Config{Name: "test"}
			config.Type, _, _ = strings.Cut(kind, ",")
			switch kind {
			case "stdio":
				config = server(t, "test", "scripted")
			case "sse":
				config.URI = serveScript(t, sseScript(h))
			default:
				config.URI = serveScript(t, streamableScript(h, strings.HasSuffix(kind, "events")))
			}
			s := newSet(t)
			add(t, s, config)
			if limited {
				limit(s)
			}
			test(t, s, h)
			s.Close()
		})
	}
}

// limit sets a time limit of one second for requests to the extension "test". It comes after the start, which may be
// slow on a busy machine.
func limit(s *Set) { s.members["test"].provider.(*client.Client).Timeout = time.Second }

func serveScript(t *testing.T, handler http.Handler) (uri string) {
	host := httptest.NewServer(handler)
	t.Cleanup(host.Close)
	return host.URL
}
