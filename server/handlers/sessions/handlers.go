// Package sessions handles the operations on stored sessions (GA 9).
package sessions

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/store"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Handlers implement the operations under /sessions of the contract. Their request bodies are decoded by [Bodies].
type Handlers struct {
	Store  *store.Store
	Agents *turn.Pool
	// RecipeDir is the directory of the recipe library. Templates see it as recipe_dir.
	RecipeDir string
	Log       *slog.Logger
}

// ListSessions answers GET /sessions (GA 9.2).
func (h *Handlers) ListSessions(ctx context.Context, _ gen.ListSessionsRequestObject) (gen.ListSessionsResponseObject, error) {
	sessions, err := h.Store.List(ctx)
	if err != nil {
		h.failed(ctx, err)
		return gen.FailedResponse{}, nil
	}
	list := make([]api.Session, len(sessions))
	for i, s := range sessions {
		list[i] = s.API()
	}
	return gen.ListSessions200JSONResponse{Of: response.Value(api.SessionListResponse{Sessions: list})}, nil
}

// GetSession answers GET /sessions/{session_id} (GA 9.3). It answers 404 to every error.
func (h *Handlers) GetSession(ctx context.Context, request gen.GetSessionRequestObject) (gen.GetSessionResponseObject, error) {
	stored, err := response.Encoded[api.Session](func(w *jsonwire.Writer) error { return h.Store.WriteJSON(ctx, w, request.SessionID) })
	if err != nil {
		h.refused(err)
		return gen.NotFoundResponse{}, nil
	}
	return gen.GetSession200JSONResponse{Of: stored}, nil
}

// DeleteSession answers DELETE /sessions/{session_id} (GA 9.4).
func (h *Handlers) DeleteSession(ctx context.Context, request gen.DeleteSessionRequestObject) (gen.DeleteSessionResponseObject, error) {
	id := request.SessionID
	_, err := h.Store.Session(ctx, id) // without a session, no agent must be ended
	if err == nil {
		ctx = context.WithoutCancel(ctx) // a half-finished deletion would be useless
		err = h.Agents.End(id, func() error { return h.Store.Delete(ctx, id) })
	}
	if errors.Is(err, session.ErrNotFound) {
		h.refused(err)
		return gen.NotFoundResponse{}, nil
	}
	if err != nil {
		h.failed(ctx, err)
		return gen.FailedResponse{}, nil
	}
	return gen.DoneResponse{}, nil
}

// ExportSession answers GET /sessions/{session_id}/export (GA 9.5).
func (h *Handlers) ExportSession(ctx context.Context, request gen.ExportSessionRequestObject) (gen.ExportSessionResponseObject, error) {
	s, err := h.Store.Load(ctx, request.SessionID)
	if err != nil {
		h.refused(err)
		return gen.NotFoundResponse{}, nil
	}
	return gen.ExportSession200JSONResponse{Of: response.Value(string(s.Export()))}, nil
}

// ImportSession answers POST /sessions/import (GA 9.6).
func (h *Handlers) ImportSession(ctx context.Context, request gen.ImportSessionRequestObject) (gen.ImportSessionResponseObject, error) {
	imported, err := h.importJSON(ctx, request.Body.JSON)
	if err != nil {
		h.refused(err)
		return gen.ImportSession400TextResponse{}, nil
	}
	return gen.ImportSession200JSONResponse{Of: response.Value(imported.API())}, nil
}

func (h *Handlers) importJSON(ctx context.Context, text string) (session.Session, error) {
	exported, err := decode.Text([]byte(text), session.Decode)
	if err != nil {
		return session.Session{}, err
	}
	return h.Store.Import(ctx, exported)
}

// GetSessionInsights answers GET /sessions/insights (GA 9.7).
func (h *Handlers) GetSessionInsights(ctx context.Context, _ gen.GetSessionInsightsRequestObject) (gen.GetSessionInsightsResponseObject, error) {
	sessions, tokens, err := h.Store.Insights(ctx)
	if err != nil {
		h.failed(ctx, err)
		return gen.FailedResponse{}, nil
	}
	insights := api.SessionInsights{TotalSessions: sessions, TotalTokens: tokens}
	return gen.GetSessionInsights200JSONResponse{Of: response.Value(insights)}, nil
}

// maxNameBytes is the maximum length of a name in UTF-8 (Q24).
const maxNameBytes = 200

// UpdateSessionName answers PUT /sessions/{session_id}/name (GA 9.8).
func (h *Handlers) UpdateSessionName(ctx context.Context, request gen.UpdateSessionNameRequestObject) (gen.UpdateSessionNameResponseObject, error) {
	name := strings.TrimSpace(request.Body.Name)
	if name == "" || len(name) > maxNameBytes {
		return gen.UpdateSessionName400TextResponse{}, nil
	}
	if _, err := h.Store.Update(ctx, request.SessionID, store.SetName(name, true)...); err != nil {
		h.failed(ctx, err)
		return gen.FailedResponse{}, nil
	}
	return gen.DoneResponse{}, nil
}

// EditMessage answers POST /sessions/{session_id}/edit_message (GA 9.10).
func (h *Handlers) EditMessage(ctx context.Context, request gen.EditMessageRequestObject) (gen.EditMessageResponseObject, error) {
	id := request.SessionID
	var err error
	if kind := request.Body.EditType; kind != nil && *kind == api.EditTypeEdit {
		err = h.Store.Truncate(ctx, id, request.Body.Timestamp)
	} else {
		id, err = h.Store.Fork(ctx, id, request.Body.Timestamp)
	}
	if err != nil {
		h.failed(ctx, err)
		return gen.FailedResponse{}, nil
	}
	return gen.EditMessage200JSONResponse{Of: response.Value(api.EditMessageResponse{SessionID: id})}, nil
}

// failed logs why an operation failed. Clients do not learn the reason.
func (h *Handlers) failed(ctx context.Context, err error) {
	if errors.Is(err, session.ErrNotFound) {
		h.refused(err)
		return
	}
	h.Log.ErrorContext(ctx, "session operation failed", "err", err)
}

// refused logs why a request was rejected.
func (h *Handlers) refused(err error) { h.Log.Debug("session operation refused", "err", err) }
