package faux

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

//go:embed asking
var asking embed.FS

// WriteAsking writes the contract and the scenarios of an Asker into a folder.
func WriteAsking(dir string) error { return Unpack(asking, "asking", dir) }

// An Asker is a server that answers its own requests by calling a model, as in asking/openapi.yaml. It is correct
// except for its Lapse.
type Asker struct {
	Lapse *Lapse // nil: a correct server
	// Client sends the requests to the upstream.
	Client *http.Client
	// Upstream is the URL of the upstream for requests that do not name one.
	Upstream string
}

// Wake requests the list of models this many times, as servers do when they start.
func (a *Asker) Wake(times int) error {
	for range times {
		resp, err := a.Client.Get(a.Upstream + "/v1/models")
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Blurt sends the upstream a request that no client request caused.
func (a *Asker) Blurt() error {
	_, err := a.question(context.Background(), &order{Upstream: a.Upstream}, nil, false)
	return err
}

// A Lapse is one way in which an Asker calls its upstream wrongly.
type Lapse struct {
	ID, Doc string
	In      string    // the scenario that shows the lapse
	Says    []Finding // the findings that a judge must report
	// question changes the request to the upstream. Nil changes nothing.
	question func(*question)
	twice    bool // repeats a question that was already answered
	forgets  bool // answers without calling the upstream
	backward bool // sends the second question first
	silent   bool // does not ask for a title
	clings   bool // keeps waiting for the upstream after its own client has left
}

// A question is a request to the upstream.
type question struct {
	path   string
	header http.Header
	body   map[string]any
}

type order struct {
	Text     string   `json:"text"`
	Upstream string   `json:"upstream"`
	Stream   bool     `json:"stream"`
	Title    bool     `json:"title"`
	Tools    bool     `json:"tools"`
	Also     []string `json:"also"`
}

// ServeHTTP answers GET /health and POST /ask.
func (a *Asker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet && r.URL.Path == "/health" {
		io.WriteString(w, `{"ok":true}`)
		return
	}
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil || r.URL.Path != "/ask" {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":"not found"}`)
		return
	}
	if o.Upstream == "" {
		o.Upstream = a.Upstream
	}
	answers, err := a.ask(r.Context(), &o)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		answers = map[string]any{"error": err.Error()}
	}
	out, _ := json.Marshal(answers) // strings always have JSON
	w.Write(out)
}

func (a *Asker) lapse() *Lapse {
	if a.Lapse == nil {
		return &Lapse{}
	}
	return a.Lapse
}

// ask sends every question of an order. The title is asked for concurrently; the other questions follow one another.
func (a *Asker) ask(ctx context.Context, o *order) (map[string]any, error) {
	out := map[string]any{}
	var aside sync.WaitGroup
	defer aside.Wait()
	if o.Title && !a.lapse().silent {
		var err error
		aside.Go(func() {
			if out["title"], err = a.converse(ctx, o, "Name this: "+o.Text, false); err != nil {
				out["title"] = err.Error()
			}
		})
		defer aside.Wait()
	}
	texts := append([]string{o.Text}, o.Also...)
	if a.lapse().backward && len(texts) == 2 {
		texts[0], texts[1] = texts[1], texts[0]
	}
	var answers []string
	for _, text := range texts {
		if a.lapse().forgets {
			answers = append(answers, "5")
			continue
		}
		answer, err := a.converse(ctx, o, text, o.Stream)
		if err == nil && a.lapse().twice {
			_, _ = a.converse(ctx, o, text, o.Stream)
		}
		if err != nil {
			aside.Wait()
			return nil, err
		}
		answers = append(answers, answer)
	}
	aside.Wait()
	out["answers"] = answers
	return out, nil
}

// converse calls the model until it answers without calling a tool.
func (a *Asker) converse(ctx context.Context, o *order, text string, stream bool) (string, error) {
	messages := []any{
		map[string]any{"role": "system", "content": "You are terse."},
		map[string]any{"role": "user", "content": text},
	}
	for range 5 {
		said, err := a.question(ctx, o, messages, stream)
		if err != nil || len(said.Calls) == 0 {
			return said.Content, err
		}
		messages = append(messages, map[string]any{"role": "assistant", "tool_calls": said.Calls})
		for _, c := range said.Calls {
			var in struct{ A, B int }
			result := "no JSON"
			if json.Unmarshal([]byte(c.Function.Arguments), &in) == nil {
				result = fmt.Sprint(in.A + in.B)
			}
			messages = append(messages, map[string]any{"role": "tool", "tool_call_id": c.ID, "content": result})
		}
	}
	return "", errors.New("the model does not stop")
}

type said struct {
	Content string     `json:"content"`
	Calls   []toolCall `json:"tool_calls"`
}

type toolCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (a *Asker) question(ctx context.Context, o *order, messages []any, stream bool) (said, error) {
	q := &question{path: "/v1/chat/completions", header: http.Header{}, body: map[string]any{"model": "terse-1", "messages": messages}}
	q.header.Set("Content-Type", "application/json")
	q.header.Set("Authorization", "Bearer sk-of-the-asker")
	if stream {
		q.body["stream"] = true
		q.body["stream_options"] = map[string]any{"include_usage": true}
	}
	if o.Tools {
		q.body["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": "add", "parameters": map[string]any{"type": "object"}}}}
	}
	if change := a.lapse().question; change != nil {
		change(q)
	}
	if a.lapse().clings {
		ctx = context.WithoutCancel(ctx)
	}
	body, err := json.Marshal(q.body)
	if err != nil {
		return said{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.Upstream+q.path, bytes.NewReader(body))
	if err != nil {
		return said{}, err
	}
	r.Header = q.header
	resp, err := a.Client.Do(r)
	if err != nil {
		return said{}, errors.New("the model is gone")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return said{}, fmt.Errorf("the model says %d: %s", resp.StatusCode, messageOf(text))
	}
	if stream {
		return readChunks(resp.Body)
	}
	var answer struct {
		Choices []struct{ Message said } `json:"choices"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || len(answer.Choices) == 0 {
		return said{}, errors.New("the model talks nonsense")
	}
	return answer.Choices[0].Message, nil
}

func messageOf(text []byte) string {
	var body struct{ Error struct{ Message string } }
	_ = json.Unmarshal(text, &body)
	return body.Error.Message
}

// readChunks joins the chunks of a streamed answer.
func readChunks(r io.Reader) (out said, err error) {
	in := bufio.NewScanner(r)
	for in.Scan() {
		data, isData := strings.CutPrefix(in.Text(), "data: ")
		if data == "[DONE]" {
			return out, nil
		}
		var chunk struct {
			Choices []struct{ Delta said } `json:"choices"`
		}
		if !isData {
			continue
		}
		if json.Unmarshal([]byte(data), &chunk) != nil {
			return out, errors.New("the model talks nonsense")
		}
		for _, c := range chunk.Choices {
			out.Content += c.Delta.Content
			for _, call := range c.Delta.Calls {
				if call.Index == len(out.Calls) {
					out.Calls = append(out.Calls, call)
				} else {
					out.Calls[call.Index].Function.Arguments += call.Function.Arguments
				}
			}
		}
	}
	return out, errors.New("the model was cut off")
}

// Lapses lists the ways in which an Asker calls its upstream wrongly.
func Lapses() []*Lapse { return lapses }

// Noisy is not a lapse: it adds a random word to each question, in a format that no judge can recognise as generated.
func Noisy() *Lapse {
	return &Lapse{ID: "noisy", question: func(q *question) {
		q.body["trace"] = strings.ToLower(rand.Text()[:9]) + "q"
	}}
}

// asked is how a report abbreviates a question of an Asker.
const asked = `POST /v1/chat/completions {"messages":[{"content":"You are terse.","role":"system"},{"content":"2 + …`

var lapses = []*Lapse{
	{
		ID: "asks-twice", Doc: "it sends an upstream request again that was already answered", In: "ask/plain", twice: true,
		Says: []Finding{{shortfall, "upstream-unexpected", "llm.unexpected", "request 1", "no such request", asked, candidate}},
	},
	{
		ID: "other-value", Doc: "it names another model in the upstream request", In: "ask/plain",
		Says:     []Finding{{difference, "value", "llm.answer", "request body /model", `"terse-1"`, `"terse-2"`, silent}},
		question: func(q *question) { q.body["model"] = "terse-2" },
	},
	{
		ID: "extra-field", Doc: "it adds a temperature to the upstream request", In: "ask/plain",
		Says:     []Finding{{difference, "field-extra", "llm.answer", "request body /temperature", "—", "0.7", silent}},
		question: func(q *question) { q.body["temperature"] = 0.7 },
	},
	{
		ID: "no-key", Doc: "it leaves out the key of the upstream request", In: "ask/plain",
		Says:     []Finding{{difference, "header-missing", "llm.answer", "request header Authorization", `"Bearer am-xs-ygz-dfxxr"`, "—", silent}},
		question: func(q *question) { q.header.Del("Authorization") },
	},
	{
		ID: "other-path", Doc: "it sends the upstream request to another path", In: "ask/plain",
		Says:     []Finding{{difference, "value", "llm.answer", "request path", `"/v1/chat/completions"`, `"/v2/chat/completions"`, silent}},
		question: func(q *question) { q.path = "/v2/chat/completions" },
	},
	{
		ID: "forgets", Doc: "it answers without an upstream request", In: "ask/plain", forgets: true,
		Says: []Finding{{shortfall, "upstream-missing", "llm.answer", "requests", "a request", "none came", candidate}},
	},
	{
		ID: "backward", Doc: "it sends the second upstream request first", backward: true, In: "ask/several",
		Says: []Finding{
			{difference, "value", "llm.answer", "request 1 body /messages/1/content", `"First ‹unique›"`, `"Second ‹unique›"`, silent},
			{difference, "value", "llm.answer", "request 2 body /messages/1/content", `"Second ‹unique›"`, `"First ‹unique›"`, silent},
		},
	},
	{
		ID: "silent", Doc: "it leaves out a request that the reference sends in parallel", silent: true, In: "ask/beside",
		Says: []Finding{
			{difference, "count", "llm.title", "requests", "1", "0", silent},
			{difference, "field-missing", "1", "body /title", `"A question"`, "—", silent},
		},
	},
	{
		ID: "clings", Doc: "it keeps its upstream request open when its own client has disconnected", clings: true, In: "ask/hang",
		Says: []Finding{
			{difference, "hang-up", "llm.half", "request end", "it hung up", "it waited on", silent},
			{difference, "hang-up", "llm.silence", "request end", "it hung up", "it waited on", silent},
		},
	},
}
