package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/auth"
	"github.com/lockstep-dev/lockstep/server/urlpath"
)

// arrive is the first thing that happens to a request. It sets the headers that every answer has, answers OPTIONS, asks
// for the secret, and replaces the URL that net/url has read by the one that the client meant.
func arrive(key auth.Key) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return arriveAt(c, key, next) }
	}
}

func arriveAt(c echo.Context, key auth.Key, next echo.HandlerFunc) error {
	r := c.Request()
	path, query := urlpath.Parse(r.RequestURI)
	f := familyOf(path)
	f.setHeaders(c.Response().Header())
	if r.Method == http.MethodOptions {
		return f.options(c.Response(), r)
	}
	if f == gooseServer && !key.Allows(path, r.Header) {
		return answer.Empty{Status: http.StatusUnauthorized}.Write(c.Response())
	}
	if f == gooseServer && slices.Contains(path, "") {
		// No path has an empty segment, and Echo would take one for the value of a parameter.
		return answer.Empty{Status: http.StatusNotFound}.Write(c.Response())
	}
	// Echo routes by the raw path, and the generated handlers unescape what it finds there if there is one.
	r.URL.RawPath = path.String()
	r.URL.Path = "/" + strings.Join(path, "/")
	r.URL.RawQuery = query
	return next(c)
}
