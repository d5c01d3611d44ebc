package body_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

var roomy = body.Limits{MaxBytes: 50 << 20, Grace: time.Minute, Stall: time.Second}

// zeros returns a list with as many values as a body may have, if more is one value (decision S51).
func zeros(more string) string { return "[" + strings.Repeat("0,", 999_998) + more + "]" }

func TestABodyHasAMillionValuesAtMost(t *testing.T) {
	tools := newEcho(body.Rules{
		Refusals: refusals, Malformed: text(500, "malformed"),
		Check: func(jsonwire.Text) (jsonwire.Text, response.Writer) { return jsonwire.Text("{}"), nil },
	}, roomy)
	goose := echo.New()
	goose.POST("/", func(c echo.Context) error { return c.String(200, "bound ") },
		body.Decoded(func(decode.Value) (any, error) { return nil, nil }, roomy))
	const notJSON = "400 Failed to parse the request body as JSON: invalid JSON"
	for more, wants := range map[string][2]string{`"["`: {"200 bound ", "200 bound "}, `[0]`: {`500 "malformed"`, notJSON}} {
		for i, e := range []*echo.Echo{tools, goose} {
			if got := post(t, e, request("application/json", zeros(more))); got != wants[i] {
				t.Errorf("999,999 and %s: %s, want %s", more, got, wants[i])
			}
		}
	}
}

func TestTheFirstCheckSeesABodyOfTooManyValues(t *testing.T) {
	first := rules
	first.First = func(raw []byte) response.Writer {
		if raw[0] == '[' {
			return text(http.StatusTooManyRequests, "first")
		}
		return nil
	}
	for body, want := range map[string]string{zeros("[0]"): `429 "first"`, "[": `429 "first"`, `{"a":1}`: "200 bound 1"} {
		if got := post(t, newEcho(first, roomy), request("application/json", body)); got != want {
			t.Errorf("%.20s: %s, want %s", body, got, want)
		}
	}
}
