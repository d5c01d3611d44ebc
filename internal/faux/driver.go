package faux

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memprocess"
)

//go:embed calling
var calling embed.FS

// WriteCalling writes the scenarios of a Driver into a folder.
func WriteCalling(dir string) error { return Unpack(calling, "calling", dir) }

// A Driver is the driver of a small client library: it reads what to do from standard input, a line of JSON each, and
// writes a line for each outcome. It is correct except for its Fault.
type Driver struct {
	Fault *DriverFault // nil: a correct driver
	Style *Style       // nil: the plain style
	Ways  Ways
	// Transport makes the connections to the API of the variable API, and to the model of the variable MODEL.
	Transport func() *http.Transport
}

// Ways are what correct libraries may do differently.
type Ways struct {
	ID        string
	KeepAlive bool          // connections are used again
	Agent     string        // the field User-Agent
	Accept    string        // the field Accept
	Slow      time.Duration // pause before each outcome
	Chatter   bool          // it logs to standard error
	Chunked   bool          // bodies have no length
	OneByOne  bool          // it does one thing after the other
}

// A driverRun is one run of a Driver.
type driverRun struct {
	*Driver
	sys    *memprocess.System
	client *http.Client
	ctx    context.Context
	busy   sync.WaitGroup
	out    sync.Mutex // guards what is written, and the fields below
	cancel map[string]context.CancelFunc
}

// A deed is what a driver is told.
type deed struct {
	ID   int      `json:"id"`
	Do   string   `json:"do"`
	With deedWith `json:"with"`
}

type deedWith struct {
	Path    string          `json:"path"`
	Query   map[string]any  `json:"query"`
	Body    json.RawMessage `json:"body"`
	Key     string          `json:"key"`
	Name    string          `json:"name"`
	Timeout int             `json:"timeout"` // milliseconds
	Events  int             `json:"events"`
	Text    string          `json:"text"`
	Stream  bool            `json:"stream"`
}

// Main is the main function of the driver.
func (d *Driver) Main(s *memprocess.System) int {
	ctx, cancel := context.WithCancel(context.Background())
	transport := d.Transport()
	transport.DisableKeepAlives = !d.Ways.KeepAlive
	r := &driverRun{Driver: &Driver{d.Fault, d.Style, d.Ways, nil}, sys: s, client: &http.Client{Transport: transport}, ctx: ctx, cancel: map[string]context.CancelFunc{}}
	if r.Fault == nil {
		r.Fault = &DriverFault{}
	}
	if r.Style == nil {
		r.Style = &Style{}
	}
	if r.Fault.stays {
		r.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	over := make(chan struct{})
	defer transport.CloseIdleConnections()
	defer r.busy.Wait()
	defer cancel()
	defer close(over)
	go func() {
		select {
		case <-s.Gone:
			cancel()
		case <-over:
		}
	}()
	return r.serve()
}

func (r *driverRun) serve() int {
	in := bufio.NewReader(r.sys.In)
	for {
		if r.Fault.deaf {
			<-r.sys.Gone
			return -1
		}
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var d deed
		if err := json.Unmarshal(line, &d); err != nil {
			fmt.Fprintln(r.sys.Err, err)
			return 2
		}
		if r.Fault.crash != nil && r.Fault.crash(&d) {
			fmt.Fprintln(r.sys.Err, "panic: no client")
			return 2
		}
		if r.Ways.OneByOne && d.Do != "get" && d.Do != "cancel" {
			r.answer(&d)
			continue
		}
		r.busy.Go(func() { r.answer(&d) })
	}
	r.busy.Wait()
	if r.Fault.lingers {
		<-r.sys.Gone
	}
	return r.Fault.status
}

// answer does something and writes the outcome.
func (r *driverRun) answer(d *deed) {
	value, err := r.do(d)
	member, content := "ok", value
	if err != nil {
		member, content = "error", err.value()
	}
	r.pause(r.Ways.Slow)
	r.out.Lock()
	defer r.out.Unlock()
	if r.Ways.Chatter {
		fmt.Fprintf(r.sys.Err, "did %s\n", d.Do)
	}
	o := object{"id": d.ID, member: content}
	if r.Fault.outcome == nil || !r.Fault.outcome(r, d, o) {
		r.put(o)
	}
}

func (r *driverRun) put(o object) { r.line(string(r.Style.JSON(o))) }

func (r *driverRun) line(text string) { io.WriteString(r.sys.Out, text+"\n") }

func (r *driverRun) pause(d time.Duration) {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-r.ctx.Done():
		}
	}
}

// A problem is an error of the library.
type problem struct {
	kind   string
	status int
}

func (p *problem) value() object {
	if p.status == 0 {
		return object{"kind": p.kind}
	}
	return object{"kind": p.kind, "status": p.status}
}

func (r *driverRun) do(d *deed) (any, *problem) {
	w := &d.With
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	if w.Timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(w.Timeout)*time.Millisecond)
		defer cancel()
	}
	switch d.Do {
	case "get":
		if w.Name != "" {
			r.out.Lock()
			r.cancel[w.Name] = cancel
			r.out.Unlock()
		}
		return r.call(ctx, "GET", w, nil)
	case "create":
		return r.call(ctx, "POST", w, w.Body)
	case "cancel":
		r.out.Lock()
		defer r.out.Unlock()
		if stop := r.cancel[w.Name]; stop != nil && !r.Fault.holdsOn {
			stop()
		}
		return object{}, nil
	case "list":
		return r.list(ctx, w)
	case "watch":
		return r.watch(ctx, w)
	case "chat":
		return r.chat(ctx, w)
	}
	return nil, &problem{kind: "unknown"}
}

// request sends one request.
func (r *driverRun) request(ctx context.Context, method string, w *deedWith, body []byte, header http.Header) (*http.Response, error) {
	query := url.Values{}
	for name, value := range w.Query {
		query.Set(name, fmt.Sprint(value))
	}
	base := r.sys.Getenv("API")
	if strings.HasPrefix(w.Path, "/v1/") {
		base = r.sys.Getenv("MODEL")
	}
	target := base + w.Path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	if r.Fault.target != nil {
		target = r.Fault.target(target)
	}
	if r.Fault.body != nil && body != nil {
		body = r.Fault.body(body)
	}
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
		if r.Ways.Chunked {
			content = io.MultiReader(content) // of a length that nobody knows
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, target, content)
	if err != nil {
		return nil, err
	}
	if r.Ways.Chunked && body != nil {
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	if header != nil {
		req.Header = header
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if w.Key != "" {
		req.Header.Set("Authorization", "Bearer "+w.Key)
	}
	if r.Ways.Agent != "" {
		req.Header.Set("User-Agent", r.Ways.Agent)
	}
	if r.Ways.Accept != "" && req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", r.Ways.Accept)
	}
	if r.Fault.request != nil {
		r.Fault.request(req)
	}
	if r.Fault.twice && method == "POST" {
		if again, err := r.client.Do(req.Clone(ctx)); err == nil {
			again.Body.Close()
			req.Body, _ = req.GetBody()
		}
	}
	return r.client.Do(req)
}

const tries = 3

// call sends a request, again if that can help, and reads the JSON of the response.
func (r *driverRun) call(ctx context.Context, method string, w *deedWith, body []byte) (any, *problem) {
	resp, err := r.persist(ctx, method, w, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, cause := io.ReadAll(resp.Body)
	if cause != nil {
		return nil, r.broken(ctx)
	}
	if resp.StatusCode >= 300 {
		return nil, r.refused(resp.StatusCode)
	}
	var value any
	if json.Unmarshal(data, &value) != nil {
		return nil, r.named("malformed", 0)
	}
	return value, nil
}

// persist sends a request until the response is final.
func (r *driverRun) persist(ctx context.Context, method string, w *deedWith, body []byte) (*http.Response, *problem) {
	limit := tries + r.Fault.more
	for try := 1; ; try++ {
		resp, err := r.request(ctx, method, w, body, nil)
		if err != nil {
			return nil, r.broken(ctx)
		}
		again := resp.StatusCode == 429 || resp.StatusCode >= 500 || r.Fault.stubborn && resp.StatusCode == 400
		if !again || try >= limit {
			return resp, nil
		}
		resp.Body.Close()
		wait := 10 * time.Millisecond << try
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && !r.Fault.hasty {
			wait = time.Duration(seconds) * time.Second
		}
		r.pause(wait)
	}
}

// broken says why there is no response.
func (r *driverRun) broken(ctx context.Context) *problem {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return r.named("timeout", 0)
	case ctx.Err() != nil:
		return r.named("canceled", 0)
	}
	return r.named("connection", 0)
}

var kinds = map[int]string{400: "bad-request", 401: "unauthorized", 403: "forbidden", 404: "not-found", 409: "conflict", 429: "rate-limit"}

func (r *driverRun) refused(status int) *problem {
	kind := kinds[status]
	switch {
	case kind == "" && status >= 500:
		kind = "server"
	case kind == "":
		kind = "status"
	}
	return r.named(kind, status)
}

func (r *driverRun) named(kind string, status int) *problem {
	if other := r.Fault.renamed[kind]; other != "" {
		kind = other
	}
	return &problem{kind, status}
}

// list reads all pages.
func (r *driverRun) list(ctx context.Context, w *deedWith) (any, *problem) {
	items := []any{}
	for page := 1; ; page++ {
		at := *w
		at.Query = map[string]any{"page": page}
		value, err := r.call(ctx, "GET", &at, nil)
		if err != nil {
			return nil, err
		}
		list, _ := value.(object)
		some, _ := list["items"].([]any)
		items = append(items, some...)
		if list["more"] != true || r.Fault.firstPage {
			return object{"items": items}, nil
		}
	}
}

// watch reads events until it has so many. It reconnects where it has left off.
func (r *driverRun) watch(ctx context.Context, w *deedWith) (any, *problem) {
	events, last := []any{}, ""
	for try := 0; len(events) < w.Events && try < tries; try++ {
		header := http.Header{"Accept": {"text/event-stream"}}
		if last != "" && !r.Fault.forgetful {
			header.Set("Last-Event-ID", last)
		}
		resp, err := r.request(ctx, "GET", w, nil, header)
		if err != nil {
			return nil, r.broken(ctx)
		}
		if resp.StatusCode != 200 {
			resp.Body.Close()
			return nil, r.refused(resp.StatusCode)
		}
		err = readEvents(resp.Body, func(id, data string) bool {
			if id != "" {
				last = id
			}
			events = append(events, object{"id": last, "data": data})
			return len(events) < w.Events
		})
		resp.Body.Close()
		if ctx.Err() != nil {
			return nil, r.broken(ctx)
		}
		if r.Fault.gives {
			break
		}
		_ = err // the next connection goes on
	}
	if len(events) < w.Events && !r.Fault.swallows {
		return nil, r.named("ended", 0)
	}
	return object{"events": events}, nil
}

// readEvents reads an event stream until a function returns false.
func readEvents(body io.Reader, event func(id, data string) bool) error {
	in := bufio.NewReader(body)
	id, data := "", []string(nil)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && data != nil:
			if !event(id, strings.Join(data, "\n")) {
				return nil
			}
			id, data = "", nil
		case name == "id":
			id = value
		case name == "data":
			data = append(data, value)
		}
	}
}

// chat asks the model.
func (r *driverRun) chat(ctx context.Context, w *deedWith) (any, *problem) {
	at := *w
	at.Path = "/v1/chat/completions"
	body := must(json.Marshal(object{"model": "small-1", "stream": w.Stream, "messages": []any{object{"role": "user", "content": w.Text}}}))
	if !w.Stream {
		value, err := r.call(ctx, "POST", &at, body)
		if err != nil {
			return nil, err
		}
		var out struct {
			Choices []struct {
				Message struct{ Content string }
			}
		}
		if json.Unmarshal(must(json.Marshal(value)), &out) != nil || len(out.Choices) == 0 {
			return nil, r.named("malformed", 0)
		}
		return object{"text": out.Choices[0].Message.Content}, nil
	}
	resp, err := r.persist(ctx, "POST", &at, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		return nil, r.refused(resp.StatusCode)
	}
	return r.pieces(ctx, resp.Body)
}

// pieces joins the pieces of the model's text.
func (r *driverRun) pieces(ctx context.Context, body io.Reader) (any, *problem) {
	text, done, bad := "", false, false
	_ = readEvents(body, func(_, data string) bool {
		if done = data == "[DONE]"; done {
			return false
		}
		var piece struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if bad = json.Unmarshal([]byte(data), &piece) != nil; bad {
			return false
		}
		for _, c := range piece.Choices {
			text += c.Delta.Content
		}
		return true
	})
	switch {
	case ctx.Err() != nil:
		return nil, r.broken(ctx)
	case bad:
		return nil, r.named("malformed", 0)
	case !done && !r.Fault.swallows:
		return nil, r.named("connection", 0)
	}
	return object{"text": text}, nil
}
