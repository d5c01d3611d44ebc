package body

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// A Shape decodes the body of an operation of the goose-server family. Its error is a [*decode.ShapeError].
type Shape func(decode.Value) (any, error)

// ShapeOf returns the Shape for a decoder.
func ShapeOf[T any](decoder func(decode.Value) (T, error)) Shape {
	return func(v decode.Value) (any, error) { return decoder(v) }
}

// These texts and limits are from GA 2.5.
const (
	notJSONType   = "Expected request with `Content-Type: application/json`"
	tooLong       = "Failed to buffer the request body: length limit exceeded"
	notJSON       = "Failed to parse the request body as JSON: "
	notTheShape   = "Failed to deserialize the JSON body into the target type: "
	StandardLimit = 2 << 20  // bytes of a request body
	ReplyLimit    = 50 << 20 // bytes of the request body of POST /reply
)

var gooseRefusals = Refusals{
	TooLarge: response.Text{Status: http.StatusRequestEntityTooLarge, Body: tooLong},
	TooSlow:  response.Empty{Status: http.StatusRequestTimeout},
	Busy:     response.Empty{Status: http.StatusServiceUnavailable},
}

// Decoded reads and decodes the body of an operation of the goose-server family. The handler gets it from [Of]. The
// checks are in the order of GA 2.5: content type, size, syntax, shape.
func Decoded(shape Shape, limits Limits) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			w, r := c.Response(), c.Request()
			if !isJSON(r.Header) {
				return response.Text{Status: http.StatusUnsupportedMediaType, Body: notJSONType}.Write(w)
			}
			raw, release, err := read(w, r, limits)
			defer release()
			if err != nil {
				return gooseRefusals.refuse(c, err)
			}
			value, err := parse(raw)
			if err != nil {
				return response.Text{Status: http.StatusBadRequest, Body: notJSON + err.Error()}.Write(w)
			}
			decoded, err := shape(value)
			if err != nil {
				return response.Text{Status: http.StatusUnprocessableEntity, Body: notTheShape + err.Error()}.Write(w)
			}
			if limits.Brief {
				release()
			}
			return hand(next, c, decoded)
		}
	}
}

func parse(raw []byte) (decode.Value, error) {
	if tooManyValues(raw) {
		return decode.Value{}, &decode.SyntaxError{}
	}
	return decode.Parse(raw)
}

// jsonMediaType matches a media type (RFC 9110 §8.3.1) that is application/json or has the suffix +json (decision
// G9).
var jsonMediaType = func() *regexp.Regexp {
	const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
	const quoted = `"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"`
	return regexp.MustCompile("(?i)^application/(?:" + token + `\+)?json(?:[ \t]*;[ \t]*(?:` + token + "=(?:" + token + "|" + quoted + "))?)*$")
}()

// isJSON reports whether there is exactly one content type, and it is JSON.
func isJSON(h http.Header) bool {
	values := h.Values("Content-Type")
	return len(values) == 1 && jsonMediaType.MatchString(strings.Trim(values[0], " \t"))
}
