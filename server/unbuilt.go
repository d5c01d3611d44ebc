package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/answer"
)

// unbuilt are the operations of the contract that nobody has built. Whoever builds one takes it off this list; with the
// last of them this file goes, and the compiler says again what is missing.
var unbuilt = []string{
	"addExtension",
	"removeExtension",
}

// unbuiltHandlers stand in for the methods of what is unbuilt. They are never called: [refuseUnbuilt] stands before them.
type unbuiltHandlers struct{ gen.StrictServerInterface }

const unbuiltText = "This operation is not built yet."

// refuseUnbuilt answers 501 and looks at nothing.
func refuseUnbuilt(echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		answer.Head(c.Response(), http.StatusNotImplemented, "text/plain; charset=utf-8", len(unbuiltText))
		_, err := c.Response().Write([]byte(unbuiltText))
		return err
	}
}
