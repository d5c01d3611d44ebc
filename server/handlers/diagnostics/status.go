package diagnostics

import (
	"context"

	gen "github.com/lockstep-dev/lockstep/gen/server"
)

// GetStatus answers GET /status.
func (Handlers) GetStatus(context.Context, gen.GetStatusRequestObject) (gen.GetStatusResponseObject, error) {
	return gen.GetStatus200TextResponse{Body: "ok"}, nil
}
