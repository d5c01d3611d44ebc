// Package query reads the query strings of the goose-server family (GA 2.6).
package query

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/httpapi/urlpath"
)

// Parameters checks that a query has the required parameters, and each parameter at most once. It passes only these
// parameters on to the generated handler, decoded as form data (decision G10).
func Parameters(required, optional []string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			values, problem := read(c.Request().URL.RawQuery, required, optional)
			if problem != "" {
				text := "Failed to deserialize query string: " + problem
				return response.Text{Status: http.StatusBadRequest, Body: text}.Write(c.Response())
			}
			c.Request().URL.RawQuery = values.Encode()
			return next(c)
		}
	}
}

func read(query string, required, optional []string) (url.Values, string) {
	values := url.Values{}
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		name := urlpath.ToUTF8(unescape(key))
		if !slices.Contains(required, name) && !slices.Contains(optional, name) {
			continue
		}
		if values.Has(name) {
			return nil, "duplicate field `" + name + "`"
		}
		values.Set(name, urlpath.ToUTF8(unescape(value)))
	}
	for _, name := range required {
		if !values.Has(name) {
			return nil, "missing field `" + name + "`"
		}
	}
	return values, ""
}
