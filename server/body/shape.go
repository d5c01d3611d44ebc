package body

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/decode"
)

// A Shape decodes the body of an operation of the goose-server family. Its error is a [*decode.ShapeError].
type Shape func(decode.Value) (any, error)

// ShapeOf makes a Shape of a decoder.
func ShapeOf[T any](decoder func(decode.Value) (T, error)) Shape {
	return func(v decode.Value) (any, error) { return decoder(v) }
}

// Texts of GA 2.5.
const (
	notJSONType   = "Expected request with `Content-Type: application/json`"
	tooLong       = "Failed to buffer the request body: length limit exceeded"
	notJSON       = "Failed to parse the request body as JSON: "
	notTheShape   = "Failed to deserialize the JSON body into the target type: "
	StandardLimit = 2 << 20  // bytes of a body
	ReplyLimit    = 50 << 20 // bytes of the body of POST /reply
)

var gooseRefusals = Refusals{
	TooLarge: answer.Text{Status: http.StatusRequestEntityTooLarge, Body: tooLong},
	TooSlow:  answer.Empty{Status: http.StatusRequestTimeout},
	Busy:     answer.Empty{Status: http.StatusServiceUnavailable},
}

// Decoded reads the body of an operation of the goose-server family and decodes it; the handler gets it from [Of]. The
// order of the checks is that of GA 2.5: content type, size, syntax, shape.
func Decoded(shape Shape, limits Limits) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			w, r := c.Response(), c.Request()
			if !isJSON(r.Header) {
				return answer.Text{Status: http.StatusUnsupportedMediaType, Body: notJSONType}.Write(w)
			}
			raw, release, err := read(w, r, limits)
			defer release()
			if err != nil {
				return gooseRefusals.refuse(c, err)
			}
			value, err := parse(raw)
			if err != nil {
				return answer.Text{Status: http.StatusBadRequest, Body: notJSON + err.Error()}.Write(w)
			}
			decoded, err := shape(value)
			if err != nil {
				return answer.Text{Status: http.StatusUnprocessableEntity, Body: notTheShape + err.Error()}.Write(w)
			}
			// The generated handlers bind nothing where there is nothing.
			r.Body, r.ContentLength = http.NoBody, 0
			if limits.Brief {
				release()
			}
			c.SetRequest(r.WithContext(context.WithValue(r.Context(), decodedKey{}, decoded)))
			return next(c)
		}
	}
}

func parse(raw []byte) (decode.Value, error) {
	if tooManyValues(raw) {
		return decode.Value{}, &decode.SyntaxError{}
	}
	return decode.Parse(raw)
}

type decodedKey struct{}

// Of returns the decoded body of the request that a context belongs to. It panics if the operation has another one.
func Of[T any](ctx context.Context) T {
	decoded, ok := ctx.Value(decodedKey{}).(T)
	if !ok {
		panic(fmt.Sprintf("body: the request has no %T", decoded))
	}
	return decoded
}

// jsonMediaType is a media type of RFC 9110 §8.3.1 that is application/json or has the suffix +json (decision G9).
var jsonMediaType = func() *regexp.Regexp {
	const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
	const quoted = `"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"`
	return regexp.MustCompile("(?i)^application/(?:" + token + `\+)?json(?:[ \t]*;[ \t]*(?:` + token + "=(?:" + token + "|" + quoted + "))?)*$")
}()

// isJSON says whether there is one content type, and whether it is JSON.
func isJSON(h http.Header) bool {
	values := h.Values("Content-Type")
	return len(values) == 1 && jsonMediaType.MatchString(strings.Trim(values[0], " \t"))
}
