package server

import (
	"maps"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/handlers/agents"
	"github.com/lockstep-dev/lockstep/server/handlers/config"
	"github.com/lockstep-dev/lockstep/server/handlers/providers"
	"github.com/lockstep-dev/lockstep/server/handlers/reply"
	"github.com/lockstep-dev/lockstep/server/handlers/sessions"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/query"
)

// shapes returns the decoders of the request bodies of the goose-server family, by operation.
func shapes() map[string]body.Shape {
	all := map[string]body.Shape{}
	maps.Copy(all, agents.Bodies)
	maps.Copy(all, config.Bodies)
	maps.Copy(all, providers.Bodies)
	maps.Copy(all, reply.Bodies)
	maps.Copy(all, sessions.Bodies)
	return all
}

// gooseMiddleware returns the middleware of each operation of the goose-server family.
func (r router) gooseMiddleware() map[string][]echo.MiddlewareFunc {
	all := map[string][]echo.MiddlewareFunc{
		"getTools":      {query.Parameters([]string{"session_id"}, []string{"extension_name"})},
		"getSession":    {notStatic},
		"deleteSession": {notStatic},
	}
	for operation, shape := range shapes() {
		limits := r.bodies
		limits.MaxBytes = body.StandardLimit
		if operation == "reply" {
			limits.MaxBytes, limits.Brief = body.ReplyLimit, true
		}
		all[operation] = append(all[operation], body.Decoded(shape, limits))
	}
	return all
}

// staticSegments are paths that Echo matches as a session ID if their method is wrong. The values are their allowed
// methods.
var staticSegments = map[string]string{"import": "POST", "insights": "GET,HEAD"}

// notStatic answers 405 for a path of staticSegments (GA 2.1, decision G11).
func notStatic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if allow, static := staticSegments[c.Param("session_id")]; static {
			c.Response().Header().Set(echo.HeaderAllow, allow)
			return echo.NewHTTPError(http.StatusMethodNotAllowed)
		}
		return next(c)
	}
}
