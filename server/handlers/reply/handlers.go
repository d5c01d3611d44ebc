// Package reply handles POST /reply (GA 7), tool confirmations (GA 8), and the choice of the model (GA 6.5, 6.6).
package reply

import (
	"context"
	"errors"
	"net/http"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/turn"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/store"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
)

// Handlers implement the operations of the contract about replies. Their request bodies are decoded by [Bodies].
type Handlers struct {
	Turns *turn.Service
	Store *store.Store
}

// Bodies are the decoders of the request bodies, by operation.
var Bodies = map[string]body.Shape{
	"reply":                    body.ShapeOf(decodeRequest),
	"confirmToolAction":        body.ShapeOf(decodeConfirmation),
	"updateAgentProvider":      body.ShapeOf(decodeProvider),
	"updateRouterToolSelector": body.ShapeOf(decodeSelector),
}

func decodeRequest(v decode.Value) (turn.Request, error) {
	o := v.Object("messages", "session_id", "recipe_name", "recipe_version")
	r := turn.Request{Messages: decode.List(o, "messages", message.Decode), SessionID: o.String("session_id")}
	o.MaybeString("recipe_name")
	o.MaybeString("recipe_version")
	return r, o.Err()
}

func decodeConfirmation(v decode.Value) (api.ConfirmToolActionRequest, error) {
	o := v.Object("id", "principalType", "action", "sessionId")
	r := api.ConfirmToolActionRequest{ID: o.String("id")}
	decode.FieldOr(o, "principalType", "Tool", decode.OneOf("Extension", "Tool"))
	r.Action, r.SessionID = o.String("action"), o.String("sessionId")
	return r, o.Err()
}

func decodeProvider(v decode.Value) (api.UpdateProviderRequest, error) {
	o := v.Object("provider", "model", "session_id")
	return api.UpdateProviderRequest{Provider: o.String("provider"), Model: o.MaybeString("model"), SessionID: o.String("session_id")}, o.Err()
}

func decodeSelector(v decode.Value) (api.UpdateRouterToolSelectorRequest, error) {
	o := v.Object("session_id")
	return api.UpdateRouterToolSelectorRequest{SessionID: o.String("session_id")}, o.Err()
}

// Reply answers POST /reply (GA 7).
func (h *Handlers) Reply(ctx context.Context, _ gen.ReplyRequestObject) (gen.ReplyResponseObject, error) {
	request, err := body.Of[turn.Request](ctx)
	if err != nil {
		return nil, err
	}
	stream := response.Stream(func(w http.ResponseWriter) { h.Turns.Serve(ctx, w, request) })
	return gen.Reply200TextEventStreamResponse{Writer: stream}, nil
}

// ConfirmToolAction answers POST /action-required/tool-confirmation (GA 8.1).
func (h *Handlers) ConfirmToolAction(_ context.Context, request gen.ConfirmToolActionRequestObject) (gen.ConfirmToolActionResponseObject, error) {
	h.Turns.Confirm(request.Body.SessionID, request.Body.ID, request.Body.Action)
	return gen.ConfirmToolAction200JSONResponse{Of: response.Value(api.NoProperties{})}, nil
}

// UpdateAgentProvider answers POST /agent/update_provider (GA 6.5).
func (h *Handlers) UpdateAgentProvider(ctx context.Context, request gen.UpdateAgentProviderRequestObject) (gen.UpdateAgentProviderResponseObject, error) {
	refused := func(text string) (gen.UpdateAgentProviderResponseObject, error) {
		return gen.UpdateAgentProvider400TextResponse{Body: text}, nil
	}
	model := request.Body.Model
	if model == nil {
		setting := llm.TextSetting(h.Turns.Settings, "GOOSE_MODEL")
		if setting == "" {
			return refused("No model specified")
		}
		model = &setting
	}
	config, err := h.Turns.Providers.Config(*model)
	if err != nil {
		return refused("Invalid model config: " + err.Error())
	}
	models, err := llm.ChooseModels(h.Turns.Settings, h.Turns.Providers, request.Body.Provider, config)
	if invalid, ok := errors.AsType[llm.InvalidModel](err); ok {
		return refused("Invalid model config: " + invalid.Error())
	}
	if err != nil {
		return refused("Failed to create " + excerpt.Quoted(request.Body.Provider) + " provider: " + err.Error())
	}
	a, release := h.Turns.Use(request.Body.SessionID)
	defer release()
	a.SetModels(models)
	if _, err := h.Store.Update(ctx, request.Body.SessionID, store.SetModel(request.Body.Provider, models.Worker.Config())...); err != nil {
		h.Turns.Log.ErrorContext(ctx, "provider not stored", "err", err)
		return gen.UpdateAgentProvider500TextResponse{Body: "Failed to update provider: Session cannot be written"}, nil
	}
	return gen.DoneResponse{}, nil
}

// UpdateRouterToolSelector answers POST /agent/update_router_tool_selector (GA 6.6).
func (h *Handlers) UpdateRouterToolSelector(_ context.Context, request gen.UpdateRouterToolSelectorRequestObject) (gen.UpdateRouterToolSelectorResponseObject, error) {
	a, release := h.Turns.Use(request.Body.SessionID)
	defer release()
	if a.Provider() == nil {
		return gen.FailedResponse{}, nil
	}
	return gen.UpdateRouterToolSelector200JSONResponse{Of: response.Value("Tool selection strategy updated successfully")}, nil
}
