package query

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/httpapi/urlpath"
	"github.com/lockstep-dev/lockstep/server/httpapi/validation"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

const (
	parameter = "directory"
	header    = "X-Opencode-Directory"
)

// Directory gives every request exactly one query parameter directory, and removes the header with the same meaning.
// The handlers read the directory from the query, and need not know where it came from. A request with several
// directories in its query is refused. Of the other parameters, it passes on the first of each that is kept.
func Directory(byDefault string, refuse func(directories []string) response.Writer, kept ...string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			named := Values(r.URL.RawQuery, parameter)
			if len(named) > 1 {
				return refuse(named).Write(c.Response())
			}
			values := url.Values{parameter: {choose(named, r.Header, byDefault)}}
			for _, name := range kept {
				if given := Values(r.URL.RawQuery, name); len(given) > 0 {
					values.Set(name, urlpath.ToUTF8(given[0]))
				}
			}
			r.URL.RawQuery = values.Encode()
			r.Header.Del(header)
			return next(c)
		}
	}
}

// RefuseSeveral is the answer to several directories, as a validation error (CT 3.4 step 2).
func RefuseSeveral(directories []string) response.Writer {
	given := jsonwire.Marshal(directories)
	data := jsonwire.Object([]string{parameter}, []jsonwire.Text{given})
	var found validation.Issues
	found.Enter(validation.Step{Key: parameter})
	found.Type(api.InvalidTypeIssueExpectedString, given)
	return validation.Refuse(data, &found)
}

// choose returns the directory of the query, or of the header, or the default. An empty directory counts as missing
// (decision S4); several headers form one value (S5).
func choose(named []string, h http.Header, byDefault string) string {
	if len(named) == 1 && named[0] != "" {
		return named[0]
	}
	if value := strings.Join(h.Values(header), ", "); value != "" {
		return urlpath.ToUTF8(value) // decision S24
	}
	return byDefault
}

// Values returns the values of a parameter in the order of the query. They are decoded like the path, with +
// for a blank. Invalid escapes stay as they are; net/url would drop the parameter.
func Values(query, name string) (values []string) {
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if unescape(key) == name {
			values = append(values, unescape(value))
		}
	}
	return values
}

func unescape(s string) string {
	return urlpath.Unescape(strings.ReplaceAll(s, "+", " "))
}
