package turn_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/definition"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	storage "github.com/lockstep-dev/lockstep/server/store"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// A rig is a service with one session, s1, its model, its store and a client.
type rig struct {
	t        testing.TB
	model    *llmtest.Model
	store    *store
	memory   *turn.SessionMemory
	agent    *turn.Agent
	service  *turn.Service
	client   *http.Client
	settings settings
	allowed  levels

	decided []func() // decisions of the user before the questions, made while the first reply runs
}

// An answer is what a model does at its n-th request, not counting the naming of sessions.
type answer func(w http.ResponseWriter, asked llmtest.Asked, n int)

// decide answers a question before it is asked, after the next reply has begun.
func (r *rig) decide(id, action string) {
	r.decided = append(r.decided, func() { r.service.Confirm("s1", id, action) })
}

// says is a model that streams the answers in turn, and repeats the last one.
func says(answers ...[]string) answer {
	return func(w http.ResponseWriter, _ llmtest.Asked, n int) {
		llmtest.Events(w, answers[min(n, len(answers)-1)]...)
	}
}

const namingPrompt = "Describe the topic"

// newRig returns a rig whose session has the model gpt-4o.
func newRig(t testing.TB, tools turn.Extensions, answer answer) *rig {
	t.Helper()
	memory := turn.NewSessionMemory(func() func() { return func() {} })
	r := &rig{t: t, memory: memory, store: newStore("s1"), agent: turn.NewAgent("s1", tools, memory), settings: settings{}, allowed: levels{}}
	var mu sync.Mutex
	n := 0
	var transport http.RoundTripper
	r.model, transport = llmtest.Start(t, func(w http.ResponseWriter, asked llmtest.Asked) {
		if strings.Contains(asked.Body, namingPrompt) {
			llmtest.Whole(w, "A  name\n")
			return
		}
		mu.Lock()
		now := n
		n++
		for _, decide := range r.decided {
			decide()
		}
		r.decided = nil
		mu.Unlock()
		answer(w, asked, now)
	})
	use := func(string) (*turn.Agent, func()) { return r.agent, func() {} }
	background := turn.NewBackground(slog.New(slog.DiscardHandler))
	r.service = &turn.Service{
		Store:       r.store,
		Use:         use,
		Stream:      use,
		Settings:    r.settings,
		Permissions: r.allowed,
		Providers: &llm.Factory{
			Settings:    settings{"OPENAI_API_KEY": `"k"`, "OPENAI_HOST": `"http://model.test"`},
			Env:         func(name string) (string, bool) { return "true", name == "GOOSE_PROVIDER_SKIP_BACKOFF" },
			Definitions: definition.NewStore(t.TempDir()),
			Transport:   transport,
		},
		Hints:      func(string) string { return "" },
		ReadRecipe: func(path string) (recipe.Recipe, error) { return recipe.Recipe{}, os.ErrNotExist },
		Background: background,
		Log:        slog.New(slog.DiscardHandler),
	}
	r.choose("gpt-4o")
	r.serve()
	t.Cleanup(background.Close)
	return r
}

// choose gives the agent a model.
func (r *rig) choose(model string) {
	r.t.Helper()
	config, err := r.service.Providers.Config(model)
	if err != nil {
		r.t.Fatal(err)
	}
	provider, err := r.service.Providers.New("openai", config)
	if err != nil {
		r.t.Fatal(err)
	}
	r.agent.SetModels(llm.Models{Worker: provider})
}

func (r *rig) serve() {
	ln := memnet.Listen()
	memnet.Serve(r.t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		asked, err := decode.Text(body, func(v decode.Value) (turn.Request, error) {
			o := v.Object("session_id", "messages")
			return turn.Request{SessionID: o.String("session_id"), Messages: decode.List(o, "messages", message.Decode)}, o.Err()
		})
		if err != nil {
			r.t.Errorf("body: %v", err)
		}
		r.service.Serve(req.Context(), w, asked)
	})}, ln)
	r.client = ln.Client()
	r.t.Cleanup(r.client.CloseIdleConnections)
}

// user returns the JSON of a user's message with a text.
func user(text string) string {
	return `{"id":"x","role":"user","created":7,"content":[{"type":"text","text":` + quoted(text) + `}],"metadata":{"userVisible":true,"agentVisible":true}}`
}

func quoted(s string) string { return string(jsonwire.AppendQuoted(nil, s)) }

// A stream is a reply that is being read.
type stream struct {
	t      testing.TB
	body   io.ReadCloser
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// open sends messages and returns the stream.
func (r *rig) open(messages ...string) *stream {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	body := `{"session_id":"s1","messages":[` + strings.Join(messages, ",") + `]}`
	req, err := http.NewRequestWithContext(ctx, "POST", "http://server/reply", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		r.t.Fatalf("%s %s, want a stream", resp.Status, resp.Header.Get("Content-Type"))
	}
	r.t.Cleanup(func() {
		cancel()
		resp.Body.Close()
	})
	return &stream{r.t, resp.Body, bufio.NewReader(resp.Body), cancel}
}

// raw returns the data of the next event, and false at the end of the stream.
func (s *stream) raw() (string, bool) {
	s.t.Helper()
	line, err := s.lines.ReadString('\n')
	if err == io.EOF && line == "" {
		return "", false
	}
	if err != nil {
		return "", false // closed by the test
	}
	data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
	if blank, err := s.lines.ReadString('\n'); !ok || err != nil || blank != "\n" {
		s.t.Fatalf("%q and %q, %v; want an event", line, blank, err)
	}
	return data, true
}

// next returns the next event that is not a Ping, in short form; see short.
func (s *stream) next() (string, bool) {
	s.t.Helper()
	for {
		data, ok := s.raw()
		if !ok {
			return "", false
		}
		if data != `{"type":"Ping"}` {
			return short(s.t, data), true
		}
	}
}

// rest returns the rest of the stream.
func (s *stream) rest() (events []string) {
	s.t.Helper()
	for {
		event, ok := s.next()
		if !ok {
			return events
		}
		events = append(events, event)
	}
}

// reply sends messages and returns all events of the reply, in short form.
func (r *rig) reply(messages ...string) []string {
	r.t.Helper()
	return r.open(messages...).rest()
}

// short returns a short form of an event for comparison. A Message has its role, ID, items and total tokens, with
// generated IDs as "*".
func short(t testing.TB, data string) string {
	t.Helper()
	var e struct {
		Type         string
		Message      json.RawMessage
		TokenState   map[string]int `json:"token_state"`
		Error        string
		Reason       string
		RequestID    string `json:"request_id"`
		Conversation []json.RawMessage
	}
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	switch e.Type {
	case "Message":
		return fmt.Sprintf("%s %d", shortMessage(decoded(t, e.Message)), e.TokenState["totalTokens"])
	case "Finish":
		return fmt.Sprintf("Finish %s %d/%d", e.Reason, e.TokenState["totalTokens"], e.TokenState["accumulatedTotalTokens"])
	case "Error":
		return "Error " + e.Error
	case "Notification":
		return "Notification " + e.RequestID + " " + string(e.Message)
	case "UpdateConversation":
		var conversation []string
		for _, m := range e.Conversation {
			conversation = append(conversation, shortMessage(decoded(t, m)))
		}
		return "UpdateConversation " + strings.Join(conversation, " | ")
	}
	return data
}

func decoded(t testing.TB, text []byte) message.Message {
	t.Helper()
	m, err := decode.Text(text, message.Decode)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

// shortMessage returns a short form of a message: "u" or "a" for the role, in upper case if the user does not see it,
// and with "-" if the agent does not.
func shortMessage(m message.Message) string {
	who := string(m.Role[:1])
	if !m.Metadata.UserVisible {
		who = strings.ToUpper(who)
	}
	if !m.Metadata.AgentVisible {
		who += "-"
	}
	if strings.HasPrefix(m.ID, "msg_") && len(m.ID) == 40 {
		who += " *"
	} else if m.ID != "" {
		who += " " + m.ID
	}
	for _, item := range m.Content {
		who += " " + shortItem(item)
	}
	return who
}

func shortItem(item message.Content) string {
	switch c := item.(type) {
	case message.Text:
		return c.Text
	case message.ToolRequest:
		if c.Call.Error != nil {
			return "broken:" + c.ID
		}
		return "call:" + c.ID + ":" + c.Call.Value.Name + string(c.Call.Value.Arguments)
	case message.FrontendToolRequest:
		return "frontend:" + c.ID + ":" + c.Call.Value.Name + string(c.Call.Value.Arguments)
	case message.ToolResponse:
		return "result:" + c.ID + ":" + message.ResultText(c.Result)
	case message.SystemNotification:
		return string(c.Type) + ":" + c.Message
	case message.ActionRequired:
		switch a := c.Data.(type) {
		case message.ToolConfirmation:
			prompt := ""
			if a.Prompt != nil {
				prompt = ":" + *a.Prompt
			}
			return "confirm:" + a.ID + ":" + a.ToolName + string(a.Arguments) + prompt
		case message.Elicitation:
			return "elicit:" + a.Message + string(a.RequestedSchema)
		case message.ElicitationResponse:
			return "response:" + string(a.UserData)
		}
	}
	w := jsonwire.NewWriter(nil)
	item.Write(w)
	return string(w.Text())
}

func shortMessages(messages []message.Message) []string {
	short := []string{}
	for _, m := range messages {
		short = append(short, shortMessage(m))
	}
	return short
}

// saved returns the messages of the session, in short form.
func (r *rig) saved() []string { return shortMessages(r.store.messages()) }

// asked returns the bodies of the requests to the model, without those for names.
func (r *rig) asked() (bodies []string) {
	for _, asked := range r.model.Asked() {
		if !strings.Contains(asked.Body, namingPrompt) {
			bodies = append(bodies, asked.Body)
		}
	}
	return bodies
}

func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// timeless runs a test in a bubble with a fake clock.
func timeless(t *testing.T, test func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		// An HTTP server waits for half a second before it closes a connection whose request it has not read. In a
		// bubble, this takes no time.
		t.Cleanup(func() { time.Sleep(time.Second) })
		test(t)
	})
}

// settings are JSON values by key.
type settings map[string]string

func (s settings) Setting(key string) (json.RawMessage, error) {
	if text, ok := s[key]; ok {
		return json.RawMessage(text), nil
	}
	return nil, nil
}

func (s settings) Secret(key string) (json.RawMessage, error) { return s.Setting(key) }

// levels are permissions in memory.
type levels map[string]permission.Level

func (l levels) Permission(tool string) (permission.Level, error) { return l[tool], nil }

func (l levels) Allow(tool string) error {
	l[tool] = permission.AlwaysAllow
	return nil
}

// A store has one session in memory.
type store struct {
	mu       sync.Mutex
	session  session.Session
	saved    []message.Message
	rows     []int64 // the numbers of the saved messages
	next     int64
	changes  []storage.Change
	failures map[string]error // by method
	deleted  bool             // the session was deleted

	deleteWhenRead bool
	beforeCompact  func() // called just before a summary is saved
}

func newStore(id string) *store {
	return &store{session: session.Session{ID: id, WorkingDir: "/w", Name: "New session 1", CreatedAt: time.Now()}}
}

func (s *store) fail(method string) error { return s.failures[method] }

// gone returns the error of methods that need the session.
func (s *store) gone() error {
	if s.deleted {
		return session.ErrNotFound
	}
	return nil
}

// deleteSession deletes the session, as another client would.
func (s *store) deleteSession() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleted, s.saved, s.rows = true, nil, nil
}

// keep deletes all messages except the first ones, as another client would.
func (s *store) keep(first int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved, s.rows = s.saved[:first], s.rows[:first]
}

func (s *store) messages() []message.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.saved)
}

func (s *store) Session(_ context.Context, id string) (session.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != s.session.ID || s.deleted {
		return session.Session{}, session.ErrNotFound
	}
	s.deleted = s.deleted || s.deleteWhenRead
	return s.session, s.fail("Session")
}

func (s *store) Conversation(ctx context.Context, id string) (session.Conversation, error) {
	if _, err := s.Session(ctx, id); errors.Is(err, session.ErrNotFound) {
		return session.Conversation{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return session.Conversation{Messages: slices.Clone(s.saved), Rows: slices.Clone(s.rows)}, s.fail("Conversation")
}

func (s *store) AddMessages(ctx context.Context, _ string, messages ...message.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := errors.Join(ctx.Err(), s.gone()); err != nil {
		return err
	}
	s.add(messages)
	return s.fail("AddMessages")
}

// add adds messages with the next numbers.
func (s *store) add(messages []message.Message) {
	for _, m := range messages {
		m.ID = ""
		s.next++
		s.saved, s.rows = append(s.saved, m), append(s.rows, s.next)
	}
}

func (s *store) Compact(ctx context.Context, _ string, read session.Conversation, seen []message.Metadata, added []message.Message) error {
	if s.beforeCompact != nil {
		s.beforeCompact()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := errors.Join(ctx.Err(), s.gone()); err != nil {
		return err
	}
	var later []message.Message
	keep := 0
	for i, row := range s.rows {
		if was := slices.Index(read.Rows, row); was >= 0 {
			s.saved[i].Metadata = seen[was]
			s.saved[keep], s.rows[keep] = s.saved[i], row
			keep++
			continue
		}
		later = append(later, s.saved[i])
	}
	s.saved, s.rows = s.saved[:keep], s.rows[:keep]
	s.add(append(slices.Clone(added), later...))
	return s.fail("Compact")
}

func (s *store) Tokens(context.Context, string) (modelconfig.Tokens, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.gone(); err != nil {
		return modelconfig.Tokens{}, err
	}
	return s.session.Tokens, s.fail("Tokens")
}

func (s *store) AddUsage(ctx context.Context, id string, total, input, output *int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.session.Tokens
	t.Total, t.Input, t.Output = total, input, output
	t.AccumulatedInput = sum(t.AccumulatedInput, input)
	t.AccumulatedOutput = sum(t.AccumulatedOutput, output)
	t.AccumulatedTotal = sum(t.AccumulatedTotal, total)
	return s.fail("AddUsage")
}

func (s *store) SetLastUsage(_ context.Context, _ string, total, input, output *int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.session.Tokens
	t.Total, t.Input, t.Output = total, input, output
	return s.fail("SetLastUsage")
}

func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	n := *a + *b
	return &n
}

func (s *store) NameOnce(_ context.Context, _, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.session.UserSetName {
		s.session.Name = name
	}
	return s.fail("NameOnce")
}

func (s *store) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session.Name
}

func (s *store) Update(_ context.Context, id string, changes ...storage.Change) (found bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes = append(s.changes, changes...)
	return id == s.session.ID, s.fail("Update")
}

// tools are extensions for tests.
type tools struct {
	turn.Extensions // nil, because no other method is called

	snapshot toolbox.Snapshot
	run      map[string]func(ctx context.Context, call toolbox.Call) message.ToolResult
}

func (b *tools) Snapshot(context.Context) (toolbox.Snapshot, error) { return b.snapshot, nil }

func (b *tools) Call(ctx context.Context, call toolbox.Call) message.ToolResult {
	run, ok := b.run[call.Name]
	if !ok {
		return message.FailedResult("-32002: " + call.Name)
	}
	return run(ctx, call)
}

func result(text string) message.ToolResult {
	return message.TextResult(text)
}

// none is a toolbox without tools.
var none = &tools{}
