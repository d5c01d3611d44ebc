package body

import (
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
)

// Bound prevents unread request bodies from delaying answers. net/http would read what a handler has left, such as
// the body for an unknown path or one that is too large, before it sends the answer. Bound sends the answer first,
// and then reads the rest for a limited time, because many clients read the answer only after sending everything.
// Bound must be the outermost middleware.
func Bound(limits Limits) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if c.Request().ContentLength == 0 {
				return next(c)
			}
			rc := http.NewResponseController(c.Response())
			_ = rc.EnableFullDuplex() // not supported in tests, where nothing is read before an answer
			setReadDeadline(c.Response(), time.Now().Add(limits.Stall))
			body := &watched{ReadCloser: c.Request().Body}
			c.Request().Body = body
			c.Response().Before(func() {
				if c.Request().Header.Get("Expect") != "" && !body.begun { // the client may not send the body at all
					c.Response().Header().Set("Connection", "close")
				}
			})

			if err := next(c); err != nil {
				c.Error(err)
			}
			if body.over {
				return nil
			}
			// In full-duplex mode, net/http must not find an unread body: it would read beyond the request.
			err := rc.Flush()
			if err == nil {
				if c.Request().Close || c.Response().Header().Get("Connection") == "close" {
					conn.EndAnswers(c.Request().Context()) // decision S53
				}
				setReadDeadline(c.Response(), time.Now().Add(limits.Stall))
				_, err = io.Copy(io.Discard, body)
			}
			if err != nil {
				// The answer is sent, but where the next request begins is unknown.
				panic(http.ErrAbortHandler)
			}
			return nil
		}
	}
}

// A watched body records whether reading it has begun, and whether it has ended, with or without an error.
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
