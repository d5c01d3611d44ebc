// Package agents answers for the agents of sessions: it starts, resumes and stops them, and lists their tools (GA 6).
package agents

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/agent"
	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/body"
	"github.com/lockstep-dev/lockstep/server/excerpt"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/permissions"
	"github.com/lockstep-dev/lockstep/server/recipe"
	"github.com/lockstep-dev/lockstep/server/session"
	"github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/store"
)

// Handlers implement operations under /agent of the contract. Their bodies have passed [Bodies].
type Handlers struct {
	Store       *store.Store
	Agents      *agent.Manager
	Providers   *llm.Factory
	Settings    *settings.Settings
	Permissions *permissions.Permissions
	Recipes     *recipe.Library
	// RecipeDir is the directory of the recipe library, which templates see as recipe_dir.
	RecipeDir string
	Log       *slog.Logger

	started atomic.Int64 // sessions since the process began
}

// StartAgent answers POST /agent/start (GA 6.1).
func (h *Handlers) StartAgent(ctx context.Context, _ gen.StartAgentRequestObject) (gen.StartAgentResponseObject, error) {
	request := body.Of[startRequest](ctx)
	chosen, refused := h.chooseRecipe(request)
	if refused != nil {
		return refused, nil
	}
	if chosen != nil {
		if err := chosen.Validate(ctx); err != nil {
			return refuse(http.StatusBadRequest, err.Error()), nil
		}
	}
	name := fmt.Sprintf("New session %d", h.started.Add(1))
	s, err := h.Store.Create(ctx, store.New{WorkingDir: request.workingDir, Name: name, Type: session.User, Recipe: chosen})
	if err != nil {
		h.Log.Error("session not created", "err", err)
		return refuse(http.StatusBadRequest, "Failed to create session: Session cannot be written"), nil
	}
	return sendSession(s), nil
}

// ResumeAgent answers POST /agent/resume (GA 6.2).
func (h *Handlers) ResumeAgent(ctx context.Context, _ gen.ResumeAgentRequestObject) (gen.ResumeAgentResponseObject, error) {
	request := body.Of[resumeRequest](ctx)
	s, err := h.Store.Load(ctx, request.sessionID)
	if err != nil {
		return refuse(http.StatusNotFound, "Failed to resume session: "+h.whyNotRead(err)), nil
	}
	if request.load {
		a, release := h.Agents.Use(s.ID)
		defer release()
		if s, err = h.Store.Load(ctx, s.ID); err != nil { // it may have been deleted meanwhile
			return refuse(http.StatusNotFound, "Failed to resume session: "+h.whyNotRead(err)), nil
		}
		var wg sync.WaitGroup
		wg.Go(func() { h.loadExtensions(ctx, a) })
		err := h.loadProvider(ctx, a, s)
		wg.Wait()
		if err != nil {
			return refuse(http.StatusInternalServerError, err.Error()), nil
		}
	}
	return sendSession(s), nil
}

// StopAgent answers POST /agent/stop (GA 16.1).
func (h *Handlers) StopAgent(ctx context.Context, _ gen.StopAgentRequestObject) (gen.StopAgentResponseObject, error) {
	id := body.Of[sessionRequest](ctx).sessionID
	if !h.Agents.Stop(id) {
		return refuse(http.StatusNotFound, "Failed to stop agent for session "+excerpt.Quoted(id)+": Session "+excerpt.Quoted(id)+" not found"), nil
	}
	return done, nil
}

// GetTools answers GET /agent/tools (GA 6.4).
func (h *Handlers) GetTools(ctx context.Context, request gen.GetToolsRequestObject) (gen.GetToolsResponseObject, error) {
	a, release := h.Agents.Use(request.Params.SessionID)
	defer release()
	tools, err := h.tools(ctx, a, request.Params.ExtensionName)
	if err != nil {
		h.Log.Warn("tools of extensions not listed", "err", err)
	}
	mode, _ := h.Settings.Text("GOOSE_MODE")
	w := jsonwire.NewWriter(nil)
	w.Open('[')
	for _, tool := range tools {
		writeToolInfo(w, tool, h.permission(mode, tool.Name))
	}
	w.Close(']')
	return result{answer.JSON{Status: http.StatusOK, Body: w.Text()}}, nil
}

// whyNotRead is the text for clients of an error of the store.
func (h *Handlers) whyNotRead(err error) string {
	if errors.Is(err, store.ErrNotFound) {
		return "Session not found"
	}
	h.Log.Error("session not read", "err", err)
	return "Session cannot be read"
}
