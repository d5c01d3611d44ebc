package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

func TestMain(m *testing.M) { os.Exit(leak.RunPrograms(m)) }

// An authority is an authorization server, and the server that it protects.
type authority struct {
	*httptest.Server
	// token answers a request for a token. Nil issues one, with the number of the request.
	token func(w http.ResponseWriter, r *http.Request)
	// metadata are the metadata; those of this server if empty.
	metadata string

	mu    sync.Mutex
	forms []url.Values // of requests for tokens
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server/mcp":
		if a.metadata != "" {
			_, _ = io.WriteString(w, a.metadata)
			return
		}
		fmt.Fprintf(w, `{"authorization_endpoint":"%s/authorize","token_endpoint":"%s/token"}`, a.URL, a.URL)
	case "/token":
		_ = r.ParseForm()
		a.mu.Lock()
		a.forms = append(a.forms, r.PostForm)
		n := len(a.forms)
		a.mu.Unlock()
		if a.token != nil {
			a.token(w, r)
			return
		}
		fmt.Fprintf(w, `{"access_token":"CANARY-access-%d","token_type":"Bearer","refresh_token":"CANARY-refresh-%d","expires_in":3600}`, n, n)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (a *authority) requests() []url.Values {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.forms
}

func newAuthority(t *testing.T) *authority {
	a := &authority{}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func (a *authority) uri(t *testing.T) *url.URL { return parsed(t, a.URL+"/mcp") }

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// memory keeps secrets.
type memory struct {
	mu              sync.Mutex
	values          map[string]string
	reading, saving error
}

func (m *memory) Secret(key string) (json.RawMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values[key] == "" {
		return nil, m.reading
	}
	return json.RawMessage(m.values[key]), m.reading
}

func (m *memory) SetSecret(key string, value json.RawMessage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.saving == nil {
		m.values[key] = string(value)
	}
	return m.saving
}

func (m *memory) RemoveSecret(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return m.saving
}

func (m *memory) get(key string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key]
}

// A user reads the addresses of pages.
type user chan *url.URL

func (u user) Write(line []byte) (int, error) {
	page, err := url.Parse(strings.TrimSuffix(string(line), "\n"))
	if err != nil {
		return 0, err
	}
	u <- page
	return len(line), nil
}

// back returns the address that the user comes back to, with a code and a state. The code of "" is left out.
func back(page *url.URL, code string) string {
	q := url.Values{"state": {page.Query().Get("state")}}
	if code != "" {
		q.Set("code", code)
	}
	return page.Query().Get("redirect_uri") + "?" + q.Encode()
}

var browserless = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// visit gets a page, and returns its status, or 0 if no server listens there.
func visit(address string) int {
	response, err := browserless.Get(address)
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// A desk is sign-ins for a test, with their user, secrets and log.
type desk struct {
	*SignIns
	user    user
	secrets *memory
	log     syncbuffer.Buffer
}

func newDesk(t *testing.T) *desk {
	d := &desk{user: make(user, 100), secrets: &memory{values: map[string]string{}}}
	d.SignIns = New(Options{Secrets: d.secrets, Browser: "none", Pages: d.user, Log: slog.New(slog.NewTextHandler(&d.log, nil))})
	t.Cleanup(d.Close)
	return d
}

// signIn starts a sign-in. The channel gets its error.
func (d *desk) signIn(ctx context.Context, name string, uri *url.URL) (ended <-chan error) {
	done := make(chan error, 1)
	go func() {
		_, err := d.SignIn(ctx, name, uri)
		done <- err
	}()
	return done
}

func TestTheUserSignsIn(t *testing.T) {
	a, d := newAuthority(t), newDesk(t)
	ended := d.signIn(t.Context(), "Far", a.uri(t))
	page := <-d.user
	if status := visit(back(page, "CANARY-code")); status != http.StatusOK {
		t.Errorf("the page has the status %d", status)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	form := a.requests()[0]
	if form.Get("code") != "CANARY-code" || form.Get("client_id") != "mcp-client" || len(form.Get("code_verifier")) != 43 {
		t.Errorf("asked for a token with %v", form)
	}
	received := d.secrets.get("oauth_creds_Far")
	received, rest, _ := strings.Cut(received, `"token_received_at":`)
	_, rest, _ = strings.Cut(rest, ",")
	want := `{"client_id":"mcp-client","token_response":{"access_token":"CANARY-access-1","token_type":"bearer","expires_in":3600,"refresh_token":"CANARY-refresh-1"},|"uri":"` + a.URL + `/mcp","token_endpoint":"` + a.URL + `/token"}`
	if got := received + "|" + rest; got != want {
		t.Errorf("stored %s, want %s", got, want)
	}
	for _, secret := range []string{"CANARY", page.Query().Get("state"), form.Get("code_verifier"), "/authorize", "code_challenge"} {
		if strings.Contains(d.log.String(), secret) {
			t.Errorf("the log has %q:\n%s", secret, &d.log)
		}
	}
	if lines := strings.Count(d.log.String(), "extension=Far"); lines != 2 {
		t.Errorf("the log has %d lines about the extension, want 2:\n%s", lines, &d.log)
	}
}

// TestNothingIsLeft checks that the listener ends with the sign-in, however that ends. TestMain finds goroutines.
func TestNothingIsLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		end    func(d *desk, gone context.CancelFunc, page *url.URL)
		want   error
		stored bool
	}{
		"success": {func(_ *desk, _ context.CancelFunc, page *url.URL) { visit(back(page, "x")) }, nil, true},
		"another": {func(_ *desk, _ context.CancelFunc, page *url.URL) {
			visit(back(page, "x") + "&state=")
			visit(page.Query().Get("redirect_uri") + "?code=x&state=y")
		}, nil, true},
		"denied": {func(_ *desk, _ context.CancelFunc, page *url.URL) { visit(back(page, "") + "&error=access_denied") }, denied, false},
		"forged": {func(_ *desk, _ context.CancelFunc, page *url.URL) {
			visit(page.Query().Get("redirect_uri") + "?code=x&state=y")
		}, forged, false},
		"disconnect": {func(_ *desk, gone context.CancelFunc, _ *url.URL) { gone() }, context.Canceled, false},
		"stop":       {func(d *desk, _ context.CancelFunc, _ *url.URL) { d.Close() }, mcperror.Closed, false},
		"no answer":  {func(*desk, context.CancelFunc, *url.URL) {}, noAnswer, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, d := newAuthority(t), newDesk(t)
			d.times.user = 10 * time.Second
			if name == "no answer" {
				d.times.user = time.Millisecond
			}
			ctx, gone := context.WithCancel(t.Context())
			defer gone()
			ended := d.signIn(ctx, "Far", a.uri(t))
			page := <-d.user
			tc.end(d, gone, page)
			if err := <-ended; !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
			if name == "disconnect" {
				d.working.Wait() // nothing else ends it
				if !strings.Contains(d.log.String(), noLongerAsked.Error()) {
					t.Errorf("the log is\n%s", &d.log)
				}
			}
			d.Close()
			if status := visit(back(page, "x")); status != 0 {
				t.Errorf("it listens: %d", status)
			}
			if stored := d.secrets.get("oauth_creds_Far") != ""; stored != tc.stored {
				t.Errorf("stored: %v, want %v", stored, tc.stored)
			}
			if _, err := d.SignIn(t.Context(), "Far", a.uri(t)); err != mcperror.Closed {
				t.Errorf("after the end: %v", err)
			}
			if len(d.flights) != 0 || len(d.steps) != 0 {
				t.Errorf("%d flights and %d queues are left", len(d.flights), len(d.steps))
			}
		})
	}
}

// TestSignInsAreLimited checks decision X48.
func TestSignInsAreLimited(t *testing.T) {
	a, d := newAuthority(t), newDesk(t)
	ctx, gone := context.WithCancel(t.Context())
	defer gone()
	var all []<-chan error
	for n := range 16 {
		all = append(all, d.signIn(ctx, fmt.Sprint(n), a.uri(t)))
		<-d.user
	}
	if _, err := d.SignIn(t.Context(), "more", a.uri(t)); err != tooMany {
		t.Errorf("one more: %v, want %v", err, tooMany)
	}
	shared := d.signIn(ctx, "0", parsed(t, strings.Replace(a.URL, "http:", "HTTP:", 1)+"/./%6Dcp#x"))
	gone()
	for _, ended := range append(all, shared) {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if len(d.user) > 0 {
		t.Error("the user has got a second page for the same server")
	}
	ended := d.signIn(t.Context(), "more", a.uri(t))
	visit(back(<-d.user, "x"))
	if err := <-ended; err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestCallersAreLimited checks decision X54: connections are few and short, and heads are small.
func TestCallersAreLimited(t *testing.T) {
	c, err := listen("state", 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	address := fmt.Sprintf("127.0.0.1:%d", c.port)
	began := time.Now()
	silent := make([]net.Conn, 16)
	for i := range silent {
		if silent[i], err = net.Dial("tcp", address); err != nil {
			t.Fatal(err)
		}
		defer silent[i].Close()
	}
	if status := visit(c.redirectURI()); status != http.StatusBadRequest {
		t.Errorf("after %d silent connections: %d", len(silent), status)
	}
	if waited := time.Since(began); waited < 100*time.Millisecond {
		t.Errorf("it was answered after %s, while %d connections were open", waited, len(silent))
	}
	unfinished, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer unfinished.Close()
	fmt.Fprintf(unfinished, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 10\r\n\r\n", address)
	if answer, err := io.ReadAll(unfinished); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 404 ") {
		t.Errorf("a request whose body does not come: %q, %v", answer, err)
	}
	for _, conn := range silent {
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a silent connection: %v, want its end", err)
		}
	}
	for size, want := range map[int]int{15 << 10: http.StatusOK, 17 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		own, err := listen("state", 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		request, _ := http.NewRequest(http.MethodGet, own.redirectURI()+"?code=c&state=state", nil)
		request.Header.Set("X-More", strings.Repeat("x", size))
		response, err := browserless.Do(request)
		if err != nil || response.StatusCode != want {
			t.Errorf("a head with %d bytes: %v, %v, want %d", size, response, err, want)
		}
		response.Body.Close()
		own.close()
	}
}

// TestOnlyOneAnswerCounts checks decision X54.
func TestOnlyOneAnswerCounts(t *testing.T) {
	c, err := listen("state", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	statuses := map[int]int{}
	for range 3 {
		statuses[visit(c.redirectURI()+"?code=c%20d&state=state&code=e")]++
	}
	if statuses[http.StatusOK] != 1 || statuses[http.StatusBadRequest] != 2 {
		t.Errorf("statuses: %v", statuses)
	}
	if o := <-c.outcome; o.code != "c d" || o.err != nil || len(c.outcome) > 0 {
		t.Errorf("%+v, and %d more", o, len(c.outcome))
	}
}

// TestNothingGoesFromHTTPSToHTTP checks decision X51.
func TestNothingGoesFromHTTPSToHTTP(t *testing.T) {
	plain := newAuthority(t)
	a := &authority{}
	a.Server = httptest.NewTLSServer(a)
	defer a.Close()
	d := newDesk(t)
	trusting := a.Client().Transport.(*http.Transport).Clone()
	trusting.DisableKeepAlives = true
	d.transport = trusting
	for name, metadata := range map[string]string{
		"token":         `{"authorization_endpoint":"` + a.URL + `/authorize","token_endpoint":"` + plain.URL + `/token"}`,
		"authorization": `{"authorization_endpoint":"` + plain.URL + `/authorize","token_endpoint":"` + a.URL + `/token"}`,
	} {
		a.metadata = metadata
		if _, err := d.SignIn(t.Context(), name, a.uri(t)); err != noMetadata {
			t.Errorf("%s: %v, want %v", name, err, noMetadata)
		}
	}
	w := &web{transport: trusting, times: d.times, uri: a.uri(t)}
	if _, ok := w.resolve(a.uri(t), plain.URL+"/mcp"); ok {
		t.Error("a redirect to http is followed")
	}
	a.metadata = `{"authorization_endpoint":"` + a.URL + `/authorize","token_endpoint":"` + a.URL + `/token","registration_endpoint":"` + plain.URL + `/register"}`
	ended := d.signIn(t.Context(), "Far", a.uri(t))
	visit(back(<-d.user, "x"))
	if err := <-ended; err != nil || len(plain.requests()) > 0 || a.requests()[0].Get("client_id") != "mcp-client" {
		t.Errorf("over https: %v, %v", err, a.requests())
	}
}

// TestABrowserThatFails checks decision X53: the address is printed once, and the wait continues.
func TestABrowserThatFails(t *testing.T) {
	for browser, printed := range map[string]bool{"none": true, "/nowhere/at/all": true, "/etc/passwd": true, "false": true, "true": false, " \tsh\t-c false": true} {
		a, d := newAuthority(t), newDesk(t)
		d.browser.words = words(browser)
		if !printed {
			d.times.user = 300 * time.Millisecond // it has ended by then
		}
		ended := d.signIn(t.Context(), "Far", a.uri(t))
		if printed {
			visit(back(<-d.user, "x"))
		}
		if err := <-ended; (err == nil) != printed || len(d.user) > 0 {
			t.Errorf("%s: %v, and %d more lines", browser, err, len(d.user))
		}
	}
	for command, want := range map[string]string{"a  b\tc ": "a,b,c", "none x": "none,x", "none": "", "'a b'": "'a,b'"} {
		if got := strings.Join(words(command), ","); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
	if words(" ")[0] != words("")[0] || words("")[0] == "" {
		t.Error("a blank command is not the default")
	}
}
