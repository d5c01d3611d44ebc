// Package body reads request bodies and lets only valid ones through to the generated handlers (CT 3.4).
//
// The steps, and what ends them:
//
//  1. A body that is larger than allowed is refused (decision S6), before any of it is read if its length is announced.
//  2. A body whose content type is not JSON is not looked at: an empty object stands in for it.
//  3. What is not JSON is malformed.
//  4. What is JSON but not what the operation needs is refused by the operation's check.
//  5. The handler gets the members the check let through, and nothing else.
package body

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// Rules are what one operation asks of its body.
type Rules struct {
	// AnyType means that the content type is not looked at.
	AnyType bool
	// Check returns the part of the body that is bound to the contract's type, or what to answer instead.
	Check func(body jsonwire.Text) (bound jsonwire.Text, refused answer.Writer)
	// TooLarge and Malformed are the answers of steps 1 and 3.
	TooLarge, Malformed answer.Writer
}

// Limits bound what reading a body can cost.
type Limits struct {
	MaxBytes int64
	// Stall is how long the client may send nothing of a body it has announced.
	Stall time.Duration
}

// Middleware reads and checks the body of an operation.
func Middleware(rules Rules, limits Limits) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			raw, err := read(c.Response(), c.Request(), limits)
			if errors.Is(err, errTooLarge) {
				return refuse(c, rules.TooLarge)
			}
			if err != nil {
				return err
			}
			text := jsonwire.Text("{}")
			if rules.AnyType || acceptable(c.Request().Header) {
				if text, err = jsonwire.Parse(raw); err != nil {
					return rules.Malformed.Write(c.Response())
				}
			}
			bound, refused := rules.Check(text)
			if refused != nil {
				return refused.Write(c.Response())
			}
			replace(c.Request(), bound)
			return next(c)
		}
	}
}

// Discard reads the body of an operation that needs none. Without it net/http would not watch the connection of a stream
// whose client has announced a body, and would not notice that the client has gone.
func Discard(limits Limits, tooLarge answer.Writer) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			_, err := read(c.Response(), c.Request(), limits)
			if errors.Is(err, errTooLarge) {
				return refuse(c, tooLarge)
			}
			if err != nil {
				return err
			}
			return next(c)
		}
	}
}

// refuse answers a body that is too large. What is left of it is read behind the answer.
func refuse(c echo.Context, tooLarge answer.Writer) error {
	c.Response().Header().Set("Connection", "close")
	return tooLarge.Write(c.Response())
}

var errTooLarge = errors.New("the body is too large")

// read reads the whole body. Its error is [errTooLarge], or an [echo.HTTPError] for a body that does not arrive.
func read(w http.ResponseWriter, r *http.Request, limits Limits) ([]byte, error) {
	if r.ContentLength > limits.MaxBytes {
		return nil, errTooLarge
	}
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	body := patient{r.Body, w, limits.Stall}
	var buf bytes.Buffer // grows with what arrives, whatever length was announced
	_, err := buf.ReadFrom(io.LimitReader(body, limits.MaxBytes))
	if err == nil {
		var more [1]byte
		var n int
		if n, err = io.ReadFull(body, more[:]); n > 0 {
			return nil, errTooLarge
		}
	}
	if err != nil && err != io.EOF {
		w.Header().Set("Connection", "close") // where the next request begins is not known
		status := http.StatusBadRequest
		if errors.Is(err, os.ErrDeadlineExceeded) {
			status = http.StatusRequestTimeout
		}
		return nil, echo.NewHTTPError(status).SetInternal(fmt.Errorf("read body: %w", err))
	}
	// A deadline that stayed would end the wait for a result, which goes on reading to notice that the caller has gone.
	setReadDeadline(w, time.Time{})
	return buf.Bytes(), nil
}

// patient gives its sender the same time for each piece.
type patient struct {
	body  io.Reader
	w     http.ResponseWriter
	stall time.Duration
}

func (p patient) Read(b []byte) (int, error) {
	setReadDeadline(p.w, time.Now().Add(p.stall))
	return p.body.Read(b)
}

// setReadDeadline does nothing where there are no deadlines: such a body, in a test, does not stall either.
func setReadDeadline(w http.ResponseWriter, t time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(t)
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
