package body

import (
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
)

// Bound keeps what a handler has not read of its body from delaying the answer, for which net/http would otherwise wait:
// the body of an unknown path, or one that is too large. It is read behind the answer, because many clients look for one
// only when they have sent everything, but for a limited time. Bound belongs in front of everything else.
func Bound(limits Limits) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if c.Request().ContentLength == 0 {
				return next(c)
			}
			rc := http.NewResponseController(c.Response())
			_ = rc.EnableFullDuplex() // not known where nothing is read before an answer, in a test
			setReadDeadline(c.Response(), time.Now().Add(limits.Stall))
			body := &watched{ReadCloser: c.Request().Body}
			c.Request().Body = body
			c.Response().Before(func() {
				if c.Request().Header.Get("Expect") != "" && !body.begun { // the client may leave its body out
					c.Response().Header().Set("Connection", "close")
				}
			})

			if err := next(c); err != nil {
				c.Error(err)
			}
			if body.over {
				return nil
			}
			// In full duplex net/http must not be left with a body to read: it would read behind the request, too.
			err := rc.Flush()
			if err == nil {
				if c.Request().Close || c.Response().Header().Get("Connection") == "close" {
					conn.EndAnswers(c.Request().Context()) // decision S53
				}
				setReadDeadline(c.Response(), time.Now().Add(limits.Stall))
				_, err = io.Copy(io.Discard, body)
			}
			if err != nil {
				// The answer is out, and where the next request begins is not known.
				panic(http.ErrAbortHandler)
			}
			return nil
		}
	}
}

// A watched body knows whether it has been asked for, and whether it has been read to its end, good or bad.
type watched struct {
	io.ReadCloser
	begun, over bool
}

func (b *watched) Read(p []byte) (int, error) {
	b.begun = true
	n, err := b.ReadCloser.Read(p)
	b.over = b.over || err != nil
	return n, err
}
