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
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Rules are what one operation asks of its body.
type Rules struct {
	// AnyType means that the content type is not looked at.
	AnyType bool
	// First, if there is one, returns what to answer before anything else of a JSON body is looked at, even how many values it
	// has, or nil.
	First func(raw []byte) (refused response.Writer)
	// Check returns the part of the body that is bound to the contract's type, or what to answer instead.
	Check func(body jsonwire.Text) (bound jsonwire.Text, refused response.Writer)
	// Refusals are the answers of step 1.
	Refusals Refusals
	// Malformed is the answer of step 3.
	Malformed response.Writer
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
			text, refused := jsonwire.Text("{}"), response.Writer(nil)
			if rules.AnyType || acceptable(c.Request().Header) {
				if text, refused = rules.parse(raw); refused != nil {
					return refused.Write(c.Response())
				}
			}
			bound, refused := rules.Check(text)
			if refused != nil {
				return refused.Write(c.Response())
			}
			if limits.Brief {
				release()
			}
			return hand(next, c, bound)
		}
	}
}

// parse is step 3.
func (r Rules) parse(raw []byte) (jsonwire.Text, response.Writer) {
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

// hand calls a handler that gets its body from [Of].
func hand(next echo.HandlerFunc, c echo.Context, body any) error {
	r := c.Request()
	r.Body, r.ContentLength = http.NoBody, 0
	c.SetRequest(r.WithContext(context.WithValue(r.Context(), bodyKey{}, body)))
	return next(c)
}

type bodyKey struct{}

// Of returns the body of the request that a context belongs to: what its [Shape] has made of it, or what [Rules] have let through, bound to the
// contract's type: names are matched exactly, and raw values keep their bytes. It fails if the operation has another body,
// or none that was checked.
func Of[T any](ctx context.Context) (body T, err error) {
	switch read := ctx.Value(bodyKey{}).(type) {
	case T:
		return read, nil
	case jsonwire.Text:
		if err := jsonwire.Unmarshal(read, &body); err != nil {
			return body, fmt.Errorf("body: bind what was checked: %w", err)
		}
		return body, nil
	default:
		return body, fmt.Errorf("body: want a %T, the request has a %T", body, read)
	}
}
