package reply

import (
	"context"
	"errors"
	"net/http"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/body"
	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/excerpt"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/store"
)

// Bodies are the shapes of the bodies, by operation.
var Bodies = map[string]body.Shape{
	"reply":                    body.ShapeOf(decodeRequest),
	"confirmToolAction":        body.ShapeOf(decodeConfirmation),
	"updateAgentProvider":      body.ShapeOf(decodeProvider),
	"updateRouterToolSelector": body.ShapeOf(decodeSelector),
}

type (
	confirmationRequest struct{ sessionID, id, action string }
	providerRequest     struct {
		sessionID, provider string
		model               *string
	}
	selectorRequest struct{ sessionID string }
)

func decodeRequest(v decode.Value) (Request, error) {
	o := v.Object("messages", "session_id", "recipe_name", "recipe_version")
	r := Request{Messages: decode.List(o, "messages", message.Decode), SessionID: o.String("session_id")}
	o.MaybeString("recipe_name")
	o.MaybeString("recipe_version")
	return r, o.Err()
}

func decodeConfirmation(v decode.Value) (confirmationRequest, error) {
	o := v.Object("id", "principalType", "action", "sessionId")
	r := confirmationRequest{id: o.String("id")}
	decode.FieldOr(o, "principalType", "Tool", func(v decode.Value) (string, error) { return v.OneOf("Extension", "Tool") })
	r.action, r.sessionID = o.String("action"), o.String("sessionId")
	return r, o.Err()
}

func decodeProvider(v decode.Value) (providerRequest, error) {
	o := v.Object("provider", "model", "session_id")
	return providerRequest{provider: o.String("provider"), model: o.MaybeString("model"), sessionID: o.String("session_id")}, o.Err()
}

func decodeSelector(v decode.Value) (selectorRequest, error) {
	o := v.Object("session_id")
	return selectorRequest{o.String("session_id")}, o.Err()
}

// A whole is an answer of any operation but the stream.
type whole struct{ answer.Writer }

func (a whole) VisitConfirmToolActionResponse(w http.ResponseWriter) error        { return a.Write(w) }
func (a whole) VisitUpdateAgentProviderResponse(w http.ResponseWriter) error      { return a.Write(w) }
func (a whole) VisitUpdateRouterToolSelectorResponse(w http.ResponseWriter) error { return a.Write(w) }

// A streamed answer writes itself. It has no error: its status is sent long before one can happen.
type streamed func(w http.ResponseWriter)

// VisitReplyResponse writes the stream.
func (s streamed) VisitReplyResponse(w http.ResponseWriter) error {
	s(w)
	return nil
}

// Reply answers POST /reply (GA 7).
func (s *Service) Reply(ctx context.Context, _ gen.ReplyRequestObject) (gen.ReplyResponseObject, error) {
	request := body.Of[Request](ctx)
	return streamed(func(w http.ResponseWriter) { s.Serve(ctx, w, request) }), nil
}

// ConfirmToolAction answers POST /action-required/tool-confirmation (GA 8.1).
func (s *Service) ConfirmToolAction(ctx context.Context, _ gen.ConfirmToolActionRequestObject) (gen.ConfirmToolActionResponseObject, error) {
	request := body.Of[confirmationRequest](ctx)
	s.Confirm(request.sessionID, request.id, request.action)
	return whole{answer.JSON{Status: http.StatusOK, Body: jsonwire.Text("{}")}}, nil
}

// UpdateAgentProvider answers POST /agent/update_provider (GA 6.5).
func (s *Service) UpdateAgentProvider(ctx context.Context, _ gen.UpdateAgentProviderRequestObject) (gen.UpdateAgentProviderResponseObject, error) {
	request := body.Of[providerRequest](ctx)
	refused := func(status int, text string) (gen.UpdateAgentProviderResponseObject, error) {
		return whole{answer.Text{Status: status, Body: text}}, nil
	}
	var model string
	if request.model != nil {
		model = *request.model
	} else if model = s.text("GOOSE_MODEL"); model == "" {
		return refused(http.StatusBadRequest, "No model specified")
	}
	config, err := s.Providers.Config(model)
	if err != nil {
		return refused(http.StatusBadRequest, "Invalid model config: "+err.Error())
	}
	models, err := Choose(s.Settings, s.Providers, request.provider, config)
	if invalid, ok := errors.AsType[InvalidModel](err); ok {
		return refused(http.StatusBadRequest, "Invalid model config: "+invalid.Error())
	}
	if err != nil {
		return refused(http.StatusBadRequest, "Failed to create "+excerpt.Quoted(request.provider)+" provider: "+err.Error())
	}
	a, release := s.Use(request.sessionID)
	defer release()
	a.SetModels(models)
	if _, err := s.Store.Update(ctx, request.sessionID, store.SetModel(request.provider, models.Worker.Config())...); err != nil {
		s.Log.Error("provider not stored", "err", err)
		return refused(http.StatusInternalServerError, "Failed to update provider: "+string(unwritable))
	}
	return whole{answer.Empty{Status: http.StatusOK}}, nil
}

// UpdateRouterToolSelector answers POST /agent/update_router_tool_selector (GA 6.6).
func (s *Service) UpdateRouterToolSelector(ctx context.Context, _ gen.UpdateRouterToolSelectorRequestObject) (gen.UpdateRouterToolSelectorResponseObject, error) {
	a, release := s.Use(body.Of[selectorRequest](ctx).sessionID)
	defer release()
	if a.Provider() == nil {
		return whole{answer.Empty{Status: http.StatusInternalServerError}}, nil
	}
	text := jsonwire.Text(`"Tool selection strategy updated successfully"`)
	return whole{answer.JSON{Status: http.StatusOK, Body: text}}, nil
}
