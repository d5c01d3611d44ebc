package server

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/httpapi/access"
	"github.com/lockstep-dev/lockstep/server/httpapi/auth"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
	"github.com/lockstep-dev/lockstep/server/httpapi/query"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/httpapi/sse"
	"github.com/lockstep-dev/lockstep/server/httpapi/urlpath"
	"github.com/lockstep-dev/lockstep/server/httpapi/websocket"
	"github.com/lockstep-dev/lockstep/server/telemetry"
)

// A router maps requests to operations.
type router struct {
	operations gen.StrictServerInterface
	directory  string
	key        auth.Key
	access     access.Rules
	bodies     body.Limits
	bounds     clienttools.Bounds
	telemetry  *telemetry.Telemetry
	log        *slog.Logger
}

func (r router) handler() http.Handler {
	e := echo.New()
	e.Logger.SetOutput(io.Discard) // the default is standard output
	e.HTTPErrorHandler = r.fail
	if r.telemetry.Requests() {
		e.Pre(observed(r.telemetry))
	}
	e.Pre(framed, body.Bound(r.bodies), recovered, preroute(r.key, r.access))
	gen.RegisterHandlersWithOptions(withHead{e}, gen.NewStrictHandler(r.operations), gen.RegisterHandlersOptions{
		OperationMiddlewares: r.middleware(),
	})
	// Echo matches a final path parameter with the rest of the path, including slashes, unless another route continues
	// behind it.
	for _, path := range []string{
		"/client-tools/tools/:clientID/*",
		"/client-tools/pending/:clientID/*",
		"/client-tools/ws/:clientID/*",
		"/config/extensions/:name/*",
		"/diagnostics/:session_id/*",
		"/session/:sessionID/permissions/:permissionID/*",
	} {
		e.RouteNotFound(path, echo.NotFoundHandler)
	}
	return e
}

// middleware returns the middleware of each operation, outermost first.
func (r router) middleware() map[string][]echo.MiddlewareFunc {
	var (
		rules     = clienttools.Bodies(r.bounds)
		directory = query.Directory(r.directory, query.RefuseSeveral)
		noBody    = body.Discard(r.bodies, clienttools.Refusals)
		checked   = func(operation string) echo.MiddlewareFunc {
			limits := r.bodies
			limits.Brief = operation == "executeClientTool"
			return body.Middleware(rules[operation], limits)
		}
	)
	all := map[string][]echo.MiddlewareFunc{
		"registerClientTools":    {directory, checked("registerClientTools")},
		"unregisterClientTools":  {directory, checked("unregisterClientTools")},
		"submitClientToolResult": {directory, checked("submitClientToolResult")},
		"executeClientTool": {
			query.Directory(r.directory, clienttools.RefuseExecute), checked("executeClientTool"),
		},
		"reportClientToolProgress": {directory, checked("reportClientToolProgress")},
		"listServerTools": {
			query.Directory(r.directory, query.RefuseSeveral, "sessionID"), keyed(r.key), noBody,
		},
		"callServerTool":        {directory, checked("callServerTool"), keyed(r.key)},
		"answerPermission":      {directory, checked("answerPermission")},
		"listAllClientTools":    {directory},
		"listClientTools":       {directory},
		"streamPendingRequests": {directory, headOfStream(clienttools.Pending), noBody},
		"openClientSocket":      {directory, noBody, websocket.Handshake},
		"streamEvents":          {directory, headOfStream(sse.Options{}), noBody},
		"streamGlobalEvents":    {headOfStream(sse.Options{}), noBody},
		"getStatus":             nil,
	}
	maps.Copy(all, r.gooseMiddleware())
	return all
}

// keyed answers 401 to a request of the client-tools family without the key of the other family (CT 14.1).
func keyed(key auth.Key) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if !key.Allows(nil, c.Request().Header) {
				return response.Empty{Status: http.StatusUnauthorized}.Write(c.Response())
			}
			return next(c)
		}
	}
}

// headOfStream answers HEAD for a stream, without subscribing or cleaning up (CT 3.2, decision S10).
func headOfStream(opts sse.Options) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if c.Request().Method == http.MethodHead {
				return sse.Head(c.Response(), opts)
			}
			return next(c)
		}
	}
}

// withHead routes HEAD like GET (CT 3.2, GA 2.1). net/http leaves out the body.
type withHead struct{ *echo.Echo }

func (r withHead) GET(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	r.Echo.HEAD(path, h, m...)
	return r.Echo.GET(path, h, m...)
}

// framed rejects a request with an ambiguous length, and reads nothing more from its connection (decisions S42, S52).
// If the head of a request was not seen and its length may be ambiguous, the connection closes after the answer.
func framed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		switch conn.FramingOf(c.Request()) {
		case conn.Ambiguous:
			c.Response().Header().Set("Connection", "close")
			return response.Empty{Status: http.StatusBadRequest}.Write(c.Response())
		case conn.Unseen:
			if len(c.Request().TransferEncoding) > 0 {
				c.Response().Header().Set("Connection", "close")
			}
		}
		return next(c)
	}
}

// recovered turns a panic into an error. Otherwise net/http would close the connection without an answer
// (GA 19, Q33).
func recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			if p := recover(); p == http.ErrAbortHandler {
				panic(p)
			} else if p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		return next(c)
	}
}

// fail is the only place where an error becomes a status. Answers that the contract describes are not errors. The
// answers of fail have no body.
func (r router) fail(err error, c echo.Context) {
	if c.Request().Context().Err() != nil {
		// The client has left, or has closed its sending side, which counts as leaving. A panic is the only way to send
		// nothing: otherwise net/http would send an empty 200.
		panic(http.ErrAbortHandler)
	}
	status := http.StatusInternalServerError
	if known := (*echo.HTTPError)(nil); errors.As(err, &known) {
		status = known.Code
	}
	if status == http.StatusInternalServerError {
		r.log.ErrorContext(c.Request().Context(), "request failed", "method", c.Request().Method, "route", c.Path(), "err", err)
	}
	if c.Response().Committed {
		return
	}
	if h := c.Response().Header(); h.Get(echo.HeaderAllow) != "" {
		path, _ := urlpath.Parse(c.Request().RequestURI)
		h.Set(echo.HeaderAllow, familyOf(path).allow(methods(h.Get(echo.HeaderAllow))))
	}
	if err := (response.Empty{Status: status}).Write(c.Response()); err != nil {
		r.log.Debug("answer not written", "err", err)
	}
}

// methods returns the methods in Echo's list without OPTIONS, which Echo always puts first and which is not a method
// of the route.
func methods(allow string) []string {
	return slices.DeleteFunc(strings.Split(allow, ", "), func(method string) bool { return method == http.MethodOptions })
}
