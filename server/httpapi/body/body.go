// Package body reads request bodies, and passes only valid ones to the generated handlers (CT 3.4).
//
// The steps are:
//
//  1. A body that is too large is rejected (decision S6), before it is read if its length is announced. A body is also
//     rejected if it arrives too slowly (S41), or if the bodies of other requests leave no room (S40).
//  2. A body whose content type is not JSON is ignored: an empty object replaces it.
//  3. A body that is not JSON, or has too many values, is malformed (S51).
//  4. JSON that the operation does not accept is rejected by the operation's check.
//  5. The handler gets only the members that the check accepted.
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

// Rules are what one operation requires of its body.
type Rules struct {
	// AnyType means that the content type is ignored.
	AnyType bool
	// First, unless it is nil, runs before everything else on a JSON body, even before the count of its values. It
	// returns an answer to refuse the body, or nil.
	First func(raw []byte) (refused response.Writer)
	// Check returns the part of the body that is bound to the contract's type, or the answer that refuses the body.
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

// parse runs step 3.
func (r Rules) parse(raw []byte) (jsonwire.Text, response.Writer) {
	if r.First != nil {
		if refused := r.First(raw); refused != nil {
			return nil, refused
		}
	}
	text, ok := Parse(raw)
	if !ok {
		return nil, r.Malformed
	}
	return text, nil
}

// Parse parses JSON within the bounds of a body (decisions S27 and S51).
func Parse(raw []byte) (text jsonwire.Text, ok bool) {
	if tooManyValues(raw) {
		return nil, false
	}
	text, err := jsonwire.Parse(raw)
	return text, err == nil
}

// Discard reads and discards the body of an operation that needs none. Otherwise net/http would not watch the
// connection of a stream whose client has announced a body, and would not notice that the client has left.
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

// jsonType matches a JSON content type by the rule of CT 3.4 step 3. There may be only one such field (decision S25).
var jsonType = regexp.MustCompile(`^application/(?:[a-z.-]+\+)?json(?:;[ \t]*[A-Za-z0-9-]+=[^;]+)*$`)

func acceptable(h http.Header) bool {
	values := h.Values("Content-Type")
	return len(values) == 1 && jsonType.MatchString(strings.Trim(values[0], " \t"))
}

// hand calls a handler, which gets the body from [Of].
func hand(next echo.HandlerFunc, c echo.Context, body any) error {
	r := c.Request()
	r.Body, r.ContentLength = http.NoBody, 0
	c.SetRequest(r.WithContext(context.WithValue(r.Context(), bodyKey{}, body)))
	return next(c)
}

type bodyKey struct{}

// Of returns the body of a request from its context. It is the value that the [Shape] returned, or the JSON that the
// [Rules] accepted, bound to the contract's type T. Names are matched exactly, and raw values keep their bytes. Of
// fails if the body has another type, or was not checked.
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
