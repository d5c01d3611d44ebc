// Package sessions answers for the sessions that are stored (GA 9).
package sessions

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/agent"
	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/body"
	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

// Handlers implement the operations under /sessions of the contract. Their bodies have passed [Bodies].
type Handlers struct {
	Store  *store.Store
	Agents *agent.Manager
	// RecipeDir is the directory of the recipe library, which templates see as recipe_dir.
	RecipeDir string
	Log       *slog.Logger
}

// ListSessions answers GET /sessions (GA 9.2).
func (h *Handlers) ListSessions(ctx context.Context, _ gen.ListSessionsRequestObject) (gen.ListSessionsResponseObject, error) {
	sessions, err := h.Store.List(ctx)
	if err != nil {
		return h.failed(http.StatusInternalServerError, err), nil
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("sessions")
	w.Open('[')
	for _, s := range sessions {
		s.Write(w)
	}
	w.Close(']')
	w.Close('}')
	return reply{answer.JSON{Status: http.StatusOK, Body: w.Text()}}, nil
}

// GetSession answers GET /sessions/{session_id} (GA 9.3). Whatever goes wrong is a 404.
func (h *Handlers) GetSession(ctx context.Context, request gen.GetSessionRequestObject) (gen.GetSessionResponseObject, error) {
	built, err := answer.Build(func(w *jsonwire.Writer) error { return h.Store.WriteJSON(ctx, w, request.SessionID) })
	if err != nil {
		return h.failed(http.StatusNotFound, err), nil
	}
	return reply{built}, nil
}

// DeleteSession answers DELETE /sessions/{session_id} (GA 9.4).
func (h *Handlers) DeleteSession(ctx context.Context, request gen.DeleteSessionRequestObject) (gen.DeleteSessionResponseObject, error) {
	id := request.SessionID
	_, err := h.Store.Session(ctx, id) // what has no session is not ended
	if err == nil {
		ctx = context.WithoutCancel(ctx) // half of it is no good
		err = h.Agents.End(id, func() error { return h.Store.Delete(ctx, id) })
	}
	if errors.Is(err, store.ErrNotFound) {
		return h.failed(http.StatusNotFound, err), nil
	}
	if err != nil {
		return h.failed(http.StatusInternalServerError, err), nil
	}
	return done, nil
}

// ExportSession answers GET /sessions/{session_id}/export (GA 9.5).
func (h *Handlers) ExportSession(ctx context.Context, request gen.ExportSessionRequestObject) (gen.ExportSessionResponseObject, error) {
	s, err := h.Store.Load(ctx, request.SessionID)
	if err != nil {
		return h.failed(http.StatusNotFound, err), nil
	}
	text := jsonwire.AppendQuoted(nil, Export(s))
	return reply{answer.JSON{Status: http.StatusOK, Body: text}}, nil
}

// Export returns a session as a text: its JSON, indented unless most of that would be blanks (decision G36).
func Export(s session.Session) []byte {
	w := jsonwire.NewWriter(nil)
	s.Write(w)
	text := w.Text()
	if size := text.IndentedSize(); size > 1<<20 && size > 4*len(text) {
		return text
	}
	return text.Indented()
}

// ImportSession answers POST /sessions/import (GA 9.6).
func (h *Handlers) ImportSession(ctx context.Context, _ gen.ImportSessionRequestObject) (gen.ImportSessionResponseObject, error) {
	text := body.Of[importRequest](ctx).json
	v, err := decode.Parse([]byte(text))
	if err != nil {
		return h.failed(http.StatusBadRequest, err), nil
	}
	exported, err := session.Decode(v)
	if err != nil {
		return h.failed(http.StatusBadRequest, err), nil
	}
	imported, err := h.Store.Import(ctx, exported)
	if err != nil {
		return h.failed(http.StatusBadRequest, err), nil
	}
	return sendSession(imported), nil
}

// GetSessionInsights answers GET /sessions/insights (GA 9.7).
func (h *Handlers) GetSessionInsights(ctx context.Context, _ gen.GetSessionInsightsRequestObject) (gen.GetSessionInsightsResponseObject, error) {
	sessions, tokens, err := h.Store.Insights(ctx)
	if err != nil {
		return h.failed(http.StatusInternalServerError, err), nil
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("totalSessions")
	w.Int(sessions)
	w.Name("totalTokens")
	w.Int(tokens)
	w.Close('}')
	return reply{answer.JSON{Status: http.StatusOK, Body: w.Text()}}, nil
}

// maxNameBytes is how long a name may be in UTF-8 (Q24).
const maxNameBytes = 200

// UpdateSessionName answers PUT /sessions/{session_id}/name (GA 9.8).
func (h *Handlers) UpdateSessionName(ctx context.Context, request gen.UpdateSessionNameRequestObject) (gen.UpdateSessionNameResponseObject, error) {
	name := strings.TrimSpace(body.Of[nameRequest](ctx).name)
	if name == "" || len(name) > maxNameBytes {
		return reply{answer.Empty{Status: http.StatusBadRequest}}, nil
	}
	if _, err := h.Store.Update(ctx, request.SessionID, store.SetName(name, true)...); err != nil {
		return h.failed(http.StatusInternalServerError, err), nil
	}
	return done, nil
}

// EditMessage answers POST /sessions/{session_id}/edit_message (GA 9.10).
func (h *Handlers) EditMessage(ctx context.Context, request gen.EditMessageRequestObject) (gen.EditMessageResponseObject, error) {
	edit := body.Of[editRequest](ctx)
	id := request.SessionID
	var err error
	if edit.inPlace {
		err = h.Store.Truncate(ctx, id, edit.timestamp)
	} else {
		id, err = h.Store.Fork(ctx, id, edit.timestamp)
	}
	if err != nil {
		return h.failed(http.StatusInternalServerError, err), nil
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("sessionId")
	w.String(id)
	w.Close('}')
	return reply{answer.JSON{Status: http.StatusOK, Body: w.Text()}}, nil
}

// failed is a bare status. Why is nothing for the client, but for the log if nobody expects it.
func (h *Handlers) failed(status int, err error) reply {
	if status == http.StatusInternalServerError && !errors.Is(err, store.ErrNotFound) {
		h.Log.Error("session operation failed", "err", err)
	} else {
		h.Log.Debug("session operation refused", "err", err)
	}
	return reply{answer.Empty{Status: status}}
}
