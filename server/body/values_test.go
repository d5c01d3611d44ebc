package body_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/body"
	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// The body itself, its members, and their elements: 1,000,000 with the zeros (decision S51).
var manyValues = map[string]func(more string) string{
	"elements":  func(more string) string { return "[" + strings.Repeat("0,", 999_998) + more + "]" },
	"members":   func(more string) string { return "{" + strings.Repeat(`"":0,`, 999_998) + `"":` + more + "}" },
	"blanks":    func(more string) string { return " [ " + strings.Repeat("{ } , ", 999_998) + more + " ] " },
	"nested":    func(more string) string { return "[" + strings.Repeat("[0],", 499_999) + more + "]" },
	"in a text": func(more string) string { return "[" + strings.Repeat(`"[\"{,",`, 999_998) + more + "]" },
}

func TestABodyHasAMillionValuesAtMost(t *testing.T) {
	roomy := body.Limits{MaxBytes: 50 << 20, Grace: time.Minute, Stall: time.Second}
	tools := newEcho(body.Rules{
		Refusals: refusals, Malformed: text(500, "malformed"),
		Check: func(jsonwire.Text) (jsonwire.Text, answer.Writer) { return jsonwire.Text("{}"), nil },
	}, roomy)
	goose := echo.New()
	goose.POST("/", func(c echo.Context) error { return c.String(200, "bound ") },
		body.Decoded(func(decode.Value) (any, error) { return nil, nil }, roomy))
	const notJSON = "400 Failed to parse the request body as JSON: invalid JSON"
	for name, values := range manyValues {
		for more, wants := range map[string][2]string{`""`: {"200 bound ", "200 bound "}, `[0]`: {`500 "malformed"`, notJSON}} {
			for i, e := range []*echo.Echo{tools, goose} {
				if got := post(t, e, request("application/json", values(more))); got != wants[i] {
					t.Errorf("%s, and %s: %s, want %s", name, more, got, wants[i])
				}
			}
		}
	}
}

func TestWhatComesFirstSeesABodyOfTooManyValues(t *testing.T) {
	first := rules
	first.First = func(raw []byte) answer.Writer {
		if raw[0] == '[' {
			return text(http.StatusTooManyRequests, "first")
		}
		return nil
	}
	e := newEcho(first, body.Limits{MaxBytes: 50 << 20, Grace: time.Minute, Stall: time.Second})
	for body, want := range map[string]string{manyValues["elements"]("0,0"): `429 "first"`, "[": `429 "first"`, `{"a":1}`: "200 bound 1"} {
		if got := post(t, e, request("application/json", body)); got != want {
			t.Errorf("%.20s: %s, want %s", body, got, want)
		}
	}
}
