package body_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func text(status int, word string) response.JSON {
	return response.JSON{Status: status, Body: jsonwire.AppendQuoted(nil, word)}
}

var refusals = body.Refusals{TooLarge: text(413, "too large"), TooSlow: text(408, "too slow"), Busy: text(503, "busy")}

// rules reject objects with the member "bad", and accept the member "a" of others.
var rules = body.Rules{
	Refusals:  refusals,
	Malformed: text(500, "malformed"),
	Check: func(body jsonwire.Text) (jsonwire.Text, response.Writer) {
		if body.Kind() != "object" || body.Get("bad") != nil {
			return nil, text(400, "bad "+string(body))
		}
		return jsonwire.Object([]string{"a"}, body.Pick("a")), nil
	},
}

// newEcho serves POST / with the middleware, and answers with what was bound.
func newEcho(rules body.Rules, limits body.Limits) *echo.Echo {
	e := echo.New()
	e.Pre(body.Bound(limits))
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		failed := new(echo.HTTPError)
		errors.As(err, &failed)
		response.Empty{Status: failed.Code}.Write(c.Response())
	}
	e.POST("/", func(c echo.Context) error {
		v, err := body.Of[struct {
			A json.RawMessage `json:"a"`
		}](c.Request().Context())
		if err != nil {
			return err
		}
		return c.String(200, "bound "+string(v.A))
	}, body.Middleware(rules, limits))
	return e
}

var limits = body.Limits{MaxBytes: 20, Grace: time.Minute, Stall: time.Second}

func post(t *testing.T, e *echo.Echo, r *http.Request) string {
	t.Helper()
	rec := httptest.NewRecorder()
	e.ServeHTTP(rec, r)
	return rec.Result().Status[:4] + rec.Body.String()
}

func request(contentType, body string) *http.Request {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

func TestTheStepsComeInOrder(t *testing.T) {
	for _, tc := range []struct{ name, contentType, body, want string }{
		{"valid", "application/json", `{"a":1.0,"b":2}`, `200 bound 1.0`},
		{"names are exact", "application/json", `{"A":1}`, `200 bound `},
		{"exactly as large as allowed", "application/json", `{"a":"012345678901"}`, `200 bound "012345678901"`},
		{"too large", "application/json", `{"a":"0123456789012"}`, `413 "too large"`},
		{"too large and not JSON by type", "text/plain", strings.Repeat("x", 21), `413 "too large"`},
		{"not JSON by type", "text/plain", `{"bad":1}`, `200 bound `},
		{"not JSON by type, and malformed", "", `{`, `200 bound `},
		{"malformed", "application/json", `{"bad":1`, `500 "malformed"`},
		{"empty", "application/json", ``, `500 "malformed"`},
		{"refused", "application/json", `{"bad":1}`, `400 "bad {\"bad\":1}"`},
	} {
		if got := post(t, newEcho(rules, limits), request(tc.contentType, tc.body)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestABodyOfUnknownLengthIsBoundedToo(t *testing.T) {
	for body, want := range map[string]string{
		`{"a":"012345678901"}`:            `200 bound "012345678901"`,
		`{"a":"0123456789012"}`:           `413 "too large"`,
		strings.Repeat(" ", 1<<20) + `{}`: `413 "too large"`,
	} {
		r := request("application/json", body)
		r.ContentLength = -1
		if got := post(t, newEcho(rules, limits), r); got != want {
			t.Errorf("%.30s: %s, want %s", body, got, want)
		}
	}
}

func TestADeclaredLengthIsEnoughToReject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, after := exchange(t, newEcho(rules, limits), head+"Content-Length: 21\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 413 ") || !strings.Contains(got, "\r\nConnection: close\r\n") {
			t.Errorf("answer: %q, want 413 and the end of the connection", got)
		}
		if after != limits.Stall {
			t.Errorf("the connection was closed after %s, want %s: the client never sent its body", after, limits.Stall)
		}
	})
}

func TestAClientThatSendsTooMuchBeforeItReadsGetsItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := memnet.Listen()
		memnet.Serve(t, &http.Server{Handler: newEcho(rules, body.Limits{MaxBytes: 1 << 20, Grace: time.Minute, Stall: time.Second})}, ln)
		client := ln.Connect(t)
		received := make(chan string, 1)
		go func() { // a pipe has no buffer, so the answer must be read
			all, _ := io.ReadAll(client)
			received <- string(all)
		}()
		const size = 1<<20 + 1<<19
		if _, err := io.WriteString(client, head+"Content-Length: 1572864\r\n\r\n"+strings.Repeat("x", size)); err != nil {
			t.Errorf("the client could not send its body: %v", err)
		}
		if got := <-received; !strings.HasPrefix(got, "HTTP/1.1 413 ") {
			t.Errorf("answer: %.80q, want 413", got)
		}
		client.Close()
	})
}

func TestABodyThatIsNotReadDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const request = "POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
		e := newEcho(rules, limits)
		ln := memnet.Listen()
		memnet.Serve(t, &http.Server{Handler: e}, ln)
		client := ln.Connect(t)
		start := time.Now()
		responses := bufio.NewReader(client)
		for _, rest := range []string{"12345", ""} { // sent after the answer, or not at all
			io.WriteString(client, request)
			resp, err := http.ReadResponse(responses, nil)
			if err != nil || resp.StatusCode != 404 || time.Since(start) != 0 {
				t.Fatalf("answer: %v, %v after %s; want 404 at once", resp, err, time.Since(start))
			}
			io.WriteString(client, rest)
		}
		if _, err := responses.ReadByte(); err != io.EOF || time.Since(start) != limits.Stall {
			t.Errorf("the connection ended with %v after %s, want its end after %s", err, time.Since(start), limits.Stall)
		}
		client.Close()
	})
}

func TestContentTypes(t *testing.T) {
	for _, accepted := range []string{
		"application/json", " application/json\t", "application/json;charset=utf-8", `application/json; charset="utf-8"`,
		"application/json; a=b; c=d", "application/ld+json;q=1", "application/vnd.api+json", "application/problem+json; charset=utf-8",
		"application/a-b.c+json", "application/json;a=b c", "application/json; a=b,c", `application/json; a="b`, "application/json; A-1=x",
	} {
		if got, want := post(t, newEcho(rules, limits), request(accepted, `{"a":1}`)), "200 bound 1"; got != want {
			t.Errorf("%q: %s, want %s", accepted, got, want)
		}
	}
	for _, ignored := range []string{
		"", "text/plain", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "APPLICATION/JSON",
		"application/JSON", "application/jsonx", "application/vnd.api2+json", "application/a+b+json", "application/a_b+json",
		"application/json, x", "application/json;", "application/json; charset", "application/json ; charset=utf-8", "*/*",
		"application/+json", "xapplication/json", "application/json; =x", "application/json; a=", "application/json;a=b;",
	} {
		if got, want := post(t, newEcho(rules, limits), request(ignored, `{"a":1}`)), "200 bound "; got != want {
			t.Errorf("%q: %s, want %s", ignored, got, want)
		}
	}
	r := request("application/json; charset=utf-8", `{"a":1}`) // a comma can be part of a value
	r.Header.Add("Content-Type", "application/json")
	if got, want := post(t, newEcho(rules, limits), r), "200 bound "; got != want {
		t.Errorf("two content types: %s, want %s", got, want)
	}
	lenient := rules
	lenient.AnyType = true
	if got, want := post(t, newEcho(lenient, limits), request("", `{"a":1}`)), "200 bound 1"; got != want {
		t.Errorf("no content type where none is asked for: %s, want %s", got, want)
	}
}

func TestABodyThatWasNotCheckedIsNotBound(t *testing.T) {
	e := echo.New()
	e.POST("/", func(c echo.Context) error {
		_, err := body.Of[any](c.Request().Context())
		return err
	})
	if got := post(t, e, request("application/json", `{}`)); !strings.HasPrefix(got, "500 ") {
		t.Errorf("%s, want 500", got)
	}
}

func TestDiscardReadsTheRestOfABody(t *testing.T) {
	for body, want := range map[string]string{"": "200 left ", "x": "200 left ", strings.Repeat("x", 21): `413 "too large"`} {
		e := echo.New()
		e.GET("/", func(c echo.Context) error {
			left, _ := io.ReadAll(c.Request().Body)
			return c.String(200, "left "+string(left))
		}, discard())
		if got := post(t, e, httptest.NewRequest("GET", "/", strings.NewReader(body))); got != want {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
}

func discard() echo.MiddlewareFunc { return body.Discard(limits, refusals) }

// exchange sends bytes to a server, and returns everything that it sends.
func exchange(t *testing.T, e *echo.Echo, send ...string) (received string, after time.Duration) {
	t.Helper()
	ln := memnet.Listen()
	memnet.Serve(t, &http.Server{Handler: e}, ln)
	client := ln.Connect(t)
	defer client.Close()
	start := time.Now()
	go func() {
		for _, piece := range send {
			io.WriteString(client, piece)
			time.Sleep(900 * time.Millisecond)
		}
	}()
	all, _ := io.ReadAll(client)
	after = time.Since(start)
	time.Sleep(time.Minute) // until the sender has ended too
	return string(all), after
}

const head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

func TestABodyThatStallsIsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, after := exchange(t, newEcho(rules, limits), head+"Content-Length: 9\r\n\r\n{", `"a"`, ":")
		if !strings.HasPrefix(got, "HTTP/1.1 408 ") || !strings.Contains(got, "\r\nConnection: close\r\n") {
			t.Errorf("answer: %q, want 408 and the end of the connection", got)
		}
		if want := 2*900*time.Millisecond + time.Second; after != want {
			t.Errorf("given up after %s, want %s: a second after the last byte", after, want)
		}
	})
}

func TestABodyThatTricklesIsReadToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, _ := exchange(t, newEcho(rules, limits), head+"Connection: close\r\nContent-Length: 7\r\n\r\n", "{", `"`, "a", `"`, ":", "1", "}")
		if !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.HasSuffix(got, "bound 1") {
			t.Errorf("answer: %q, want 200", got)
		}
	})
}

func TestABrokenBodyIsABadRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, _ := exchange(t, newEcho(rules, limits), head+"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "\r\nConnection: close\r\n") {
			t.Errorf("answer: %q, want 400 and the end of the connection", got)
		}
	})
}

func TestTheConnectionIsWatchedAgainAfterTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := echo.New()
		e.POST("/", func(c echo.Context) error {
			select {
			case <-c.Request().Context().Done():
				return c.String(500, "ended early")
			case <-time.After(time.Minute): // far beyond the time for a body
				return c.String(200, "waited")
			}
		}, body.Middleware(rules, limits))
		got, _ := exchange(t, e, head+"Connection: close\r\nContent-Length: 2\r\n\r\n{}")
		if !strings.HasSuffix(got, "waited") {
			t.Errorf("answer: %q, want one after a minute", got)
		}
	})
}

func TestABodyThatArrivesTooSlowlyIsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := body.Limits{MaxBytes: 100, Grace: 3 * time.Second, Stall: 2 * time.Second}
		pieces := strings.Split(strings.Repeat(" ", 50), "")
		got, after := exchange(t, newEcho(rules, slow), append([]string{head + "Content-Length: 60\r\n\r\n"}, pieces...)...)
		if !strings.HasPrefix(got, "HTTP/1.1 408 ") || !strings.Contains(got, "\r\nConnection: close\r\n") || !strings.HasSuffix(got, `"too slow"`) {
			t.Errorf("answer: %q, want 408 and the end of the connection", got)
		}
		if after != 3*time.Second {
			t.Errorf("cut after %s, want %s", after, 3*time.Second)
		}
	})
}

func TestAFastBodyMayLastLongerThanTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := body.Limits{MaxBytes: 1 << 20, Grace: time.Second, Stall: time.Minute}
		piece := strings.Repeat(" ", 1024)
		got, _ := exchange(t, newEcho(rules, limits), head+"Connection: close\r\nContent-Length: 6151\r\n\r\n"+piece, piece, piece, piece, piece, piece, `{"a":1}`)
		if !strings.HasPrefix(got, "HTTP/1.1 200 ") {
			t.Errorf("answer: %q, want 200", got)
		}
	})
}

func TestTheBodiesOfAllRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := body.Limits{MaxBytes: 1 << 20, Grace: time.Minute, Stall: time.Minute, InFlight: body.NewInFlight(100)}
		ln := memnet.Listen()
		memnet.Serve(t, &http.Server{Handler: newEcho(rules, limits)}, ln)
		send := func(text string) io.ReadCloser {
			client := ln.Connect(t)
			io.WriteString(client, text)
			synctest.Wait()
			return client
		}
		answered := func(client io.Reader) string {
			resp, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				return err.Error()
			}
			all, _ := io.ReadAll(resp.Body)
			return resp.Status[:4] + resp.Header.Get("Retry-After") + string(all)
		}
		if got := answered(send(head + "Connection: close\r\nContent-Length: 200\r\n\r\n" + strings.Repeat(" ", 193) + `{"a":1}`)); got != "200 bound 1" {
			t.Errorf("a body that is alone: %s", got)
		}
		held := send(head + "Content-Length: 91\r\n\r\n" + strings.Repeat(" ", 90))
		if got := answered(send(head + "Connection: close\r\nContent-Length: 10\r\n\r\n" + `   {"a":1}`)); got != "200 bound 1" {
			t.Errorf("a body that fits: %s", got)
		}
		refused := send(head + "Content-Length: 11\r\n\r\n" + `    {"a":1}`)
		if got := answered(refused); got != `503 1"busy"` {
			t.Errorf("a body too many: %s", got)
		}
		held.Close()
		synctest.Wait()
		if got := answered(send(head + "Connection: close\r\nContent-Length: 11\r\n\r\n" + `    {"a":1}`)); got != "200 bound 1" {
			t.Errorf("a body after another one has ended: %s", got)
		}
	})
}
