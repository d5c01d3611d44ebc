// Package body reads request bodies and lets only valid ones through to the generated handlers (CT 3.4).
//
// The steps, and what ends them:
//
//  1. A body that is larger than allowed is refused (decision S6), before any of it is read if its length is announced;
//     so is one that comes too slowly (S41), or for which other bodies leave no room (S40).
//  2. A body whose content type is not JSON is not looked at: an empty object stands in for it.
//  3. What is not JSON, or has too many values, is malformed (S51).
//  4. What is JSON but not what the operation needs is refused by the operation's check.
//  5. The handler gets the members the check let through, and nothing else.
package body

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// Rules are what one operation asks of its body.
type Rules struct {
	// AnyType means that the content type is not looked at.
	AnyType bool
	// First, if there is one, returns what to answer before anything else of a JSON body is looked at, even how many values it
	// has, or nil.
	First func(raw []byte) (refused answer.Writer)
	// Check returns the part of the body that is bound to the contract's type, or what to answer instead.
	Check func(body jsonwire.Text) (bound jsonwire.Text, refused answer.Writer)
	// Refusals are the answers of step 1.
	Refusals Refusals
	// Malformed is the answer of step 3.
	Malformed answer.Writer
}

// Middleware reads and checks the body of an operation.
func Middleware(rules Rules, limits Limits) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			raw, release, err := read(c.Response(), c.Request(), limits)
			defer release()
			if err != nil {
				return rules.Refusals.refuse(c, err)
			}
			text, refused := jsonwire.Text("{}"), answer.Writer(nil)
			if rules.AnyType || acceptable(c.Request().Header) {
				if text, refused = rules.parse(raw); refused != nil {
					return refused.Write(c.Response())
				}
			}
			bound, refused := rules.Check(text)
			if refused != nil {
				return refused.Write(c.Response())
			}
			replace(c.Request(), bound)
			if limits.Brief {
				release()
			}
			return next(c)
		}
	}
}

// parse is step 3.
func (r Rules) parse(raw []byte) (jsonwire.Text, answer.Writer) {
	if r.First != nil {
		if refused := r.First(raw); refused != nil {
			return nil, refused
		}
	}
	if tooManyValues(raw) {
		return nil, r.Malformed
	}
	text, err := jsonwire.Parse(raw)
	if err != nil {
		return nil, r.Malformed
	}
	return text, nil
}

// Discard reads the body of an operation that needs none. Without it net/http would not watch the connection of a stream
// whose client has announced a body, and would not notice that the client has gone.
func Discard(limits Limits, refusals Refusals) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			_, release, err := read(c.Response(), c.Request(), limits)
			release()
			if err != nil {
				return refusals.refuse(c, err)
			}
			return next(c)
		}
	}
}

// jsonType is the rule of CT 3.4 step 3 for the one field that there may be (decision S25).
var jsonType = regexp.MustCompile(`^application/(?:[a-z.-]+\+)?json(?:;[ \t]*[A-Za-z0-9-]+=[^;]+)*$`)

func acceptable(h http.Header) bool {
	values := h.Values("Content-Type")
	return len(values) == 1 && jsonType.MatchString(strings.Trim(values[0], " \t"))
}

// checked is a body that has passed its check.
type checked struct {
	*bytes.Reader
	text jsonwire.Text
}

func (checked) Close() error { return nil }

// replace gives the request a body that Echo's binder takes to [Serializer].
func replace(r *http.Request, bound jsonwire.Text) {
	r.Body = checked{bytes.NewReader(bound), bound}
	r.ContentLength = int64(len(bound))
	r.Header.Set("Content-Type", "application/json")
}

// A Serializer binds checked bodies for Echo. Names are matched exactly, which encoding/json does not do, and raw values
// keep their bytes, which the binding of the generated handlers would not: it would sort keys and escape < and >.
type Serializer struct{}

var _ echo.JSONSerializer = Serializer{}

// Deserialize binds the request's body to what v points to. A body that was not checked is an error.
func (Serializer) Deserialize(c echo.Context, v any) error {
	body, ok := c.Request().Body.(checked)
	if !ok {
		return echo.NewHTTPError(http.StatusInternalServerError).SetInternal(errors.New("the body was not checked"))
	}
	if err := jsonwire.Unmarshal(body.text, v); err != nil {
		return echo.NewHTTPError(http.StatusInternalServerError).SetInternal(fmt.Errorf("bind a checked body: %w", err))
	}
	return nil
}

// Serialize writes a value. The generated handlers write their own answers, so nothing calls it.
func (Serializer) Serialize(c echo.Context, v any, _ string) error {
	_, err := c.Response().Write(jsonwire.Marshal(v))
	return err
}
