package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/httpapi/urlpath"
	"github.com/lockstep-dev/lockstep/server/telemetry"
)

// unobserved is the path that clients poll.
var unobserved = urlpath.Path{"status"}

// observed records a request, from its head to the end of its answer (decision T14). It has to be the outermost middleware.
func observed(t *telemetry.Telemetry) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if path, _ := urlpath.Parse(c.Request().RequestURI); slices.Equal(path, unobserved) {
				return next(c)
			}
			request, span := t.Request(c.Request())
			c.SetRequest(request)
			defer func() {
				status := 0
				if c.Response().Committed {
					status = c.Response().Status
				}
				span.End(routeOf(c, status), status)
			}()
			if err := next(c); err != nil {
				c.Error(err) // the answer belongs to the request
			}
			return nil
		}
	}
}

// routeOf returns the path in the contract that a request was routed to, or "".
func routeOf(c echo.Context, status int) string {
	path := c.Path() // for a wrong method, that of other methods
	if status == http.StatusMethodNotAllowed || strings.HasSuffix(path, "*") {
		return ""
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if name, ok := strings.CutPrefix(segment, ":"); ok {
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}
