package server

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/httpapi/urlpath"
)

// A family is one of the two API families of this server. Each has headers of its own on every answer.
type family int

const (
	gooseServer family = iota // GA
	clientTools               // CT
)

// clientToolPaths are the paths of the client-tools family, with everything below them. All other paths belong to
// goose-server (decision S20).
var clientToolPaths = []urlpath.Path{{"client-tools"}, {"event"}, {"global", "event"}}

func familyOf(path urlpath.Path) family {
	if path.In(clientToolPaths...) || isPermission(path) {
		return clientTools
	}
	return gooseServer
}

// isPermission reports whether a path is /session/{sessionID}/permissions/{permissionID} (CT 10.2).
func isPermission(path urlpath.Path) bool {
	return len(path) == 4 && path[0] == "session" && path[1] != "" && path[2] == "permissions" && path[3] != ""
}

// setHeaders sets the headers that every answer has (CT 3.1, GA 2.3).
func (f family) setHeaders(h http.Header) {
	h.Set(echo.HeaderAccessControlAllowOrigin, "*")
	if f == gooseServer {
		h.Set(echo.HeaderVary, "origin, access-control-request-method, access-control-request-headers")
	}
}

// options answers OPTIONS, on known and unknown paths alike (CT 3.1, GA 2.3).
func (f family) options(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	if f == gooseServer {
		h.Set(echo.HeaderAccessControlAllowMethods, "*")
		h.Set(echo.HeaderAccessControlAllowHeaders, "*")
		return response.Empty{Status: http.StatusOK}.Write(w)
	}
	h.Set(echo.HeaderAccessControlAllowMethods, "GET,HEAD,PUT,POST,DELETE,PATCH")
	if asked := strings.Join(r.Header.Values(echo.HeaderAccessControlRequestHeaders), ", "); asked != "" {
		h.Set(echo.HeaderAccessControlAllowHeaders, asked)
		h.Set(echo.HeaderVary, echo.HeaderAccessControlRequestHeaders)
	}
	return response.Empty{Status: http.StatusNoContent}.Write(w)
}

// methodOrder is the order of methods in the Allow header of goose-server (decision G11).
var methodOrder = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete}

// allow returns the value of Allow for a list of methods (CT 3.2, GA 2.4).
func (f family) allow(methods []string) string {
	if f == gooseServer {
		slices.SortFunc(methods, func(a, b string) int {
			return cmp.Compare(slices.Index(methodOrder, a), slices.Index(methodOrder, b))
		})
		return strings.Join(methods, ",")
	}
	return strings.Join(methods, ", ")
}
