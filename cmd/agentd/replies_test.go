//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const (
	// repliesVariable sets how many replies TestRepliesAtOnce keeps open at once: make test-replies sets it.
	repliesVariable = "AGENTD_REPLIES"
	ordinaryReplies = 50

	// answerPieces is how many pieces each answer has.
	answerPieces = 10
)

// TestRepliesAtOnce makes many sessions wait for the model at the same time, and then answers all of them at once. No
// reply may fail, and each session must get its own answer, in order. The server and the model use real processes and
// sockets.
func TestRepliesAtOnce(t *testing.T) {
	count := number(t, repliesVariable, ordinaryReplies)
	model := &crowd{waiting: count, all: make(chan struct{}), answer: make(chan struct{})}
	upstream, err := stub.Start("llm", stub.OpenAI, stub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(upstream.Close)
	t.Cleanup(upstream.Attach(model, "", true, time.Now()))
	s, _ := startServer(t, t.TempDir(), upstream.URL(), "GOOSE_MAX_ACTIVE_AGENTS="+strconv.Itoa(count))
	client := &api{url: s.url, transport: &http.Transport{MaxIdleConnsPerHost: count}}
	defer client.close()

	sessions := make([]string, count)
	for i := range sessions {
		if sessions[i], err = client.startSession(); err != nil {
			t.Fatal(err)
		}
	}
	before := s.resident(t)
	var replies, opened sync.WaitGroup
	for i, session := range sessions {
		opened.Add(1)
		replies.Go(func() {
			events, err := client.reply(session, question(i), sync.OnceFunc(opened.Done))
			if err != nil {
				t.Errorf("reply %d: %v", i, err)
			}
			if want := answered(i); !slices.Equal(events, want) {
				t.Errorf("reply %d:\n got %q\nwant %q", i, events, want)
			}
		})
	}
	opened.Wait()
	if t.Failed() {
		close(model.answer) // some clients will not ask
		replies.Wait()
		return
	}
	<-model.all
	t.Logf("%d replies wait for the model: %d KiB each, %d MiB in all", count, (s.resident(t)-before)>>10/int64(count), s.resident(t)>>20)
	close(model.answer)
	replies.Wait()
	if strays := model.strays.Load(); strays != 0 {
		t.Errorf("the model was asked %d questions that nobody meant it to be asked", strays)
	}
}

// question is what client i asks. answered returns the events of its stream.
func question(i int) string { return fmt.Sprintf("question %d", i) }

func answered(i int) (events []string) {
	events = []string{fmt.Sprintf("answer-%d: ", i)} // the first chunk has the role and an empty text
	for n := range answerPieces {
		events = append(events, fmt.Sprintf("answer-%d: %d.%d", i, i, n))
	}
	return append(events, "Finish")
}

// A crowd is a model that answers only after all clients have asked.
type crowd struct {
	mu      sync.Mutex // guards waiting
	waiting int

	all    chan struct{} // closed when all have asked
	answer chan struct{} // closed when the model may answer
	strays atomic.Int64
}

func (c *crowd) Answer(r *transcript.Request) (*stub.Answer, func(*transcript.Exchange)) {
	c.mu.Lock()
	if c.waiting--; c.waiting == 0 {
		close(c.all)
	}
	c.mu.Unlock()
	<-c.answer
	_, text, _ := strings.Cut(string(r.Body.Bytes), "question ")
	i, err := strconv.Atoi(text[:max(strings.IndexByte(text, '"'), 0)])
	if err != nil {
		c.strays.Add(1)
	}
	pieces := make([]stub.Piece, answerPieces)
	for n := range pieces {
		says := fmt.Sprintf("%d.%d", i, n)
		pieces[n].Text = &says
	}
	return &stub.Answer{Message: &stub.Message{ID: fmt.Sprintf("answer-%d", i), Model: "gpt-4o", Pieces: pieces}}, func(*transcript.Exchange) {}
}

func (c *crowd) Unexpected(*transcript.Exchange, string) { c.strays.Add(1) }

// startSession creates a session with a model. It gives the session a name, so that the server does not ask the model
// for one.
func (a *api) startSession() (id string, err error) {
	answer, err := a.do("POST", "/agent/start", object{"working_dir": "/w"})
	if err != nil {
		return "", err
	}
	var started struct{ ID string }
	if err := json.Unmarshal(answer, &started); err != nil {
		return "", err
	}
	if _, err := a.do("PUT", "/sessions/"+started.ID+"/name", object{"name": "Named"}); err != nil {
		return "", err
	}
	_, err = a.do("POST", "/agent/update_provider", object{"session_id": started.ID, "provider": "openai", "model": "gpt-4o"})
	return started.ID, err
}

// reply sends a message in a session, and returns the events of the answer without Pings. It shortens a message to
// its ID and text. It calls opened at the first event, or when there will be none.
func (a *api) reply(session, text string, opened func()) (events []string, err error) {
	defer opened()
	body, err := a.open("POST", "/reply", object{
		"session_id": session,
		"messages":   []object{{"role": "user", "created": 1765386000, "content": []object{{"type": "text", "text": text}}, "metadata": object{"userVisible": true, "agentVisible": true}}},
	})
	if err != nil {
		return nil, err
	}
	defer body.Close()
	for lines := bufio.NewScanner(body); ; opened() {
		data, err := nextEvent(lines)
		if err != nil || data == "" {
			return events, err
		}
		event, err := plain(data)
		if err != nil {
			return events, err
		}
		if event != "Ping" {
			events = append(events, event)
		}
	}
}

// nextEvent returns the data of the next event, or "" at the end.
func nextEvent(lines *bufio.Scanner) (data string, err error) {
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			return data, nil
		}
		if lines.Text() != "" {
			return "", fmt.Errorf("the line %q", lines.Text())
		}
	}
	return "", lines.Err()
}

// plain returns a short form of an event.
func plain(data string) (string, error) {
	var event struct {
		Type    string
		Message struct {
			ID      string
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(data), &event); err != nil {
		return "", fmt.Errorf("%q: %w", data, err)
	}
	if event.Type != "Message" {
		return event.Type, nil
	}
	if len(event.Message.Content) != 1 {
		return "", fmt.Errorf("%s: not one item", data)
	}
	return event.Message.ID + ": " + event.Message.Content[0].Text, nil
}

// resident returns the process's resident memory in bytes, or 0 if the system does not report it.
func (s *served) resident(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kib int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
