// Package agents handles the operations on the agents of sessions: it starts, resumes and stops them, and lists their
// tools (GA 6).
package agents

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/store"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Handlers implement the operations under /agent of the contract. Their request bodies are decoded by [Bodies].
type Handlers struct {
	Store       *store.Store
	Agents      *turn.Pool
	Clients     toolbox.Clients
	Providers   *llm.Factory
	Settings    *settings.Settings
	Permissions *permission.Permissions
	Recipes     *recipe.Library
	// RecipeDir is the directory of the recipe library. Templates see it as recipe_dir.
	RecipeDir string
	Log       *slog.Logger

	started atomic.Int64 // how many sessions were started since the process began
}

// StartAgent answers POST /agent/start (GA 6.1).
func (h *Handlers) StartAgent(ctx context.Context, request gen.StartAgentRequestObject) (gen.StartAgentResponseObject, error) {
	chosen, refused := h.chooseRecipe(request.Body)
	if refused != nil {
		return refused, nil
	}
	if chosen != nil {
		if err := chosen.Validate(ctx); err != nil {
			return gen.StartAgent400JSONResponse{Of: response.Message(err.Error())}, nil
		}
	}
	name := fmt.Sprintf("New session %d", h.started.Add(1))
	n := store.New{WorkingDir: request.Body.WorkingDir, Name: name, Type: session.User, Recipe: chosen}
	if request.Body.ClientID != nil {
		n.ExtensionData = session.ClientData(*request.Body.ClientID)
	}
	s, err := h.Store.Create(ctx, n)
	if err != nil {
		h.Log.ErrorContext(ctx, "session not created", "err", err)
		return gen.StartAgent400JSONResponse{Of: response.Message("Failed to create session: Session cannot be written")}, nil
	}
	return gen.StartAgent200JSONResponse{Of: response.Value(s.API())}, nil
}

// ResumeAgent answers POST /agent/resume (GA 6.2).
func (h *Handlers) ResumeAgent(ctx context.Context, request gen.ResumeAgentRequestObject) (gen.ResumeAgentResponseObject, error) {
	s, err := h.Store.Load(ctx, request.Body.SessionID)
	if err != nil {
		return notFound("Failed to resume session: " + h.whyNotRead(ctx, err)), nil
	}
	if request.Body.LoadModelAndExtensions {
		a, release := h.Agents.Use(s.ID)
		defer release()
		if s, err = h.Store.Load(ctx, s.ID); err != nil { // it may have been deleted in the meantime
			return notFound("Failed to resume session: " + h.whyNotRead(ctx, err)), nil
		}
		var wg sync.WaitGroup
		wg.Go(func() { h.loadExtensions(ctx, a) })
		err := h.loadProvider(ctx, a, s)
		wg.Wait()
		if err != nil {
			return failed(err.Error()), nil
		}
	}
	return gen.ResumeAgent200JSONResponse{Of: response.Value(s.API())}, nil
}

// StopAgent answers POST /agent/stop (GA 16.1).
func (h *Handlers) StopAgent(_ context.Context, request gen.StopAgentRequestObject) (gen.StopAgentResponseObject, error) {
	id := request.Body.SessionID
	if !h.Agents.Stop(id) {
		return notFound("Failed to stop agent for session " + excerpt.Quoted(id) + ": Session " + excerpt.Quoted(id) + " not found"), nil
	}
	return gen.DoneResponse{}, nil
}

// GetTools answers GET /agent/tools (GA 6.4).
func (h *Handlers) GetTools(ctx context.Context, request gen.GetToolsRequestObject) (gen.GetToolsResponseObject, error) {
	a, release := h.Agents.Use(request.Params.SessionID)
	defer release()
	tools, err := h.tools(ctx, a, request.Params.ExtensionName)
	if err != nil {
		h.Log.WarnContext(ctx, "tools not listed", "err", err)
	}
	mode, _ := h.Settings.Text("GOOSE_MODE")
	list := make(api.ToolInfoList, len(tools))
	for i, tool := range tools {
		list[i] = api.ToolInfo{
			Name: tool.Name, Description: tool.Description,
			Parameters: slices.Collect(properties(jsonwire.Text(tool.Schema))), Permission: h.permission(ctx, mode, tool.Name),
		}
	}
	return gen.GetTools200JSONResponse{Of: response.Value(list)}, nil
}

// whyNotRead returns the text for clients of an error of the store.
func (h *Handlers) whyNotRead(ctx context.Context, err error) string {
	if errors.Is(err, session.ErrNotFound) {
		return "Session not found"
	}
	h.Log.ErrorContext(ctx, "session not read", "err", err)
	return "Session cannot be read"
}

func notFound(text string) gen.NotFoundWithMessageJSONResponse {
	return gen.NotFoundWithMessageJSONResponse{Of: response.Message(text)}
}

func failed(text string) gen.FailedWithMessageJSONResponse {
	return gen.FailedWithMessageJSONResponse{Of: response.Message(text)}
}

// AddExtension answers POST /agent/add_extension (GA 6.7).
func (h *Handlers) AddExtension(ctx context.Context, request gen.AddExtensionRequestObject) (gen.AddExtensionResponseObject, error) {
	config, err := decode.Text(request.Body.Config, extension.Decode)
	if err != nil {
		return nil, err
	}
	a, release := h.Agents.Use(request.Body.SessionID)
	defer release()
	if err := a.Extensions.Add(ctx, config); err != nil {
		h.Log.WarnContext(ctx, "extension not added", "extension", config.Name, "err", err)
		return failed("Failed to add extension: " + err.Error()), nil
	}
	return gen.DoneResponse{}, nil
}

// RemoveExtension answers POST /agent/remove_extension (GA 6.8).
func (h *Handlers) RemoveExtension(_ context.Context, request gen.RemoveExtensionRequestObject) (gen.RemoveExtensionResponseObject, error) {
	a, release := h.Agents.Use(request.Body.SessionID)
	defer release()
	a.Extensions.Remove(request.Body.Name)
	return gen.DoneResponse{}, nil
}
