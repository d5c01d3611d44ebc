package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/httpapi/access"
	"github.com/lockstep-dev/lockstep/server/httpapi/auth"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/httpapi/urlpath"
)

// preroute runs before routing. It refuses requests for client tools that the rules do not allow. It sets the headers that every answer has, answers OPTIONS, checks the secret, and
// replaces the URL that net/url parsed by the one that the client meant.
func preroute(key auth.Key, rules access.Rules) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return prerouted(c, key, rules, next) }
	}
}

func prerouted(c echo.Context, key auth.Key, rules access.Rules, next echo.HandlerFunc) error {
	r := c.Request()
	path, query := urlpath.Parse(r.RequestURI)
	f := familyOf(path)
	if f == clientTools {
		if refused := rules.Check(r); refused != nil { // decision S71: before everything else, and without CORS headers
			return refused.Write(c.Response())
		}
	}
	f.setHeaders(c.Response().Header())
	if r.Method == http.MethodOptions {
		return f.options(c.Response(), r)
	}
	if f == gooseServer && !key.Allows(path, r.Header) {
		return response.Empty{Status: http.StatusUnauthorized}.Write(c.Response())
	}
	if f == gooseServer && slices.Contains(path, "") {
		// No path has an empty segment, but Echo would accept one as the value of a parameter.
		return response.Empty{Status: http.StatusNotFound}.Write(c.Response())
	}
	// Echo routes by the raw path if there is one, and the generated handlers unescape the parameters that it finds.
	r.URL.RawPath = path.String()
	r.URL.Path = "/" + strings.Join(path, "/")
	r.URL.RawQuery = query
	return next(c)
}
