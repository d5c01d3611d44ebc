// Package status says that the server is up (GA 5.1).
package status

import (
	"context"
	"net/http"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/answer"
)

// Handlers implement the operation getStatus of the contract. They look at nothing.
type Handlers struct{}

// GetStatus answers GET /status.
func (Handlers) GetStatus(context.Context, gen.GetStatusRequestObject) (gen.GetStatusResponseObject, error) {
	return ok{}, nil
}

type ok struct{}

// VisitGetStatusResponse names the charset, which the generated answer cannot.
func (ok) VisitGetStatusResponse(w http.ResponseWriter) error {
	answer.Head(w, http.StatusOK, "text/plain; charset=utf-8", len("ok"))
	_, err := w.Write([]byte("ok"))
	return err
}
