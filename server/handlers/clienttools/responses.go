package clienttools

import (
	"errors"
	"net/http"

	"github.com/lockstep-dev/lockstep/gen/api"
	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// toolsByID returns an object that keeps the order of the tools.
func toolsByID(tools []api.ClientToolDefinition) response.Of[api.ClientToolsByID] {
	encoded, _ := response.Encoded[api.ClientToolsByID](func(w *jsonwire.Writer) error {
		w.Open('{')
		for _, tool := range tools {
			w.Key(tool.ID).Raw(jsonwire.Marshal(tool))
		}
		w.Close('}')
		return nil
	})
	return encoded
}

func problem(status int, body any) response.JSON {
	return response.JSON{Status: status, Body: jsonwire.Marshal(body)}
}

// Refusals are the answers to bodies that were not read completely.
var Refusals = body.Refusals{
	TooLarge: problem(http.StatusRequestEntityTooLarge, api.BodyTooLargeError{
		Error: api.BodyTooLargeErrorErrorRequestBodyTooLarge,
	}),
	TooSlow: problem(http.StatusRequestTimeout, api.BodyTooSlowError{
		Error: api.BodyTooSlowErrorErrorRequestBodyTooSlow,
	}),
	Busy: problem(http.StatusServiceUnavailable, api.TooManyRequestsError{
		Error: api.TooManyRequestsErrorErrorTooManyRequestsInProgress,
	}),
}

// executeRefusals are the same answers with error codes.
var executeRefusals = body.Refusals{
	TooLarge: problem(http.StatusRequestEntityTooLarge, invalidRequest(string(api.BodyTooLargeErrorErrorRequestBodyTooLarge))),
	TooSlow:  problem(http.StatusRequestTimeout, invalidRequest(string(api.BodyTooSlowErrorErrorRequestBodyTooSlow))),
	Busy:     problem(http.StatusServiceUnavailable, executionFailed(string(api.TooManyRequestsErrorErrorTooManyRequestsInProgress))),
}

var (
	// CT 3.4 step 4
	malformed = problem(http.StatusInternalServerError, api.MalformedBodyError{
		Name: api.MalformedBodyErrorNameUnknownError,
		Data: api.MalformedBodyDetail{Message: api.MalformedBodyDetailMessageErrorMalformedJSONInRequestBody},
	})
	// CT 9.3
	tooManyTools   = tooMany(api.TooManyToolsMessageTooManyTools)
	tooManyClients = tooMany(api.TooManyToolsMessageTooManyClients)
	// CT 4.4, decision S11
	executeMalformed = problem(http.StatusBadRequest, invalidRequest("Invalid JSON body"))
)

func tooMany(message api.TooManyToolsMessage) api.TooManyToolsError {
	return api.TooManyToolsError{Error: api.TooManyTools{Code: api.TooManyToolsCodeRATELIMITED, Message: message}}
}

func invalidRequest(message string) api.InvalidRequestError {
	return api.InvalidRequestError{Error: api.InvalidRequest{Code: api.InvalidRequestCodeINVALIDREQUEST, Message: message}}
}

func executionFailed(message string) api.ExecutionFailedError {
	return api.ExecutionFailedError{Error: api.ExecutionFailed{Code: api.ExecutionFailedCodeINTERNALERROR, Message: message}}
}

// RefuseExecute is the answer of /client-tools/execute to a request with several directories (decision S3).
func RefuseExecute([]string) response.Writer {
	return problem(http.StatusBadRequest, invalidRequest("Invalid input: expected string, received array"))
}

// notExecuted returns the answer to an execution without a result (CT 4.4). It returns unknown errors.
func notExecuted(err error) (gen.ExecuteClientToolResponseObject, error) {
	var failure *Failure
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return refused(refusal), nil
	case errors.Is(err, ErrToolNotFound):
		return gen.ExecuteClientTool404JSONResponse{Of: response.Value(api.ToolNotFoundError{
			Error: api.ToolNotFound{Code: api.ToolNotFoundCodeNOTFOUND, Message: api.ToolNotFoundMessageToolNotFound},
		})}, nil
	case errors.Is(err, ErrRequestPending): // decision S11
		return gen.ExecuteClientTool400JSONResponse{Of: response.Value(invalidRequest("Request ID is already pending"))}, nil
	case errors.As(err, &failure) && failure.TimedOut:
		return gen.ExecuteClientTool504JSONResponse{Of: response.Value(api.ExecutionTimeoutError{
			Error: api.ExecutionTimeout{Code: api.ExecutionTimeoutCodeTIMEOUT, Message: failure.Text},
		})}, nil
	case errors.As(err, &failure):
		return gen.ExecuteClientTool500JSONResponse{Of: response.Value(executionFailed(failure.Text))}, nil
	}
	return nil, err
}

// refused returns the answer to a call that a guard does not let run (CT 4.4).
func refused(r *Refusal) gen.ExecuteClientToolResponseObject {
	switch r.Status {
	case http.StatusForbidden:
		return gen.ExecuteClientTool403JSONResponse{Of: response.Value(api.PermissionDeniedError{
			Error: api.PermissionDenied{Code: api.PermissionDeniedCodePERMISSIONDENIED, Message: r.Text},
		})}
	case http.StatusTooManyRequests:
		return gen.ExecuteClientTool429JSONResponse{Of: response.Value(api.RateLimitedError{
			Error: api.RateLimited{Code: api.RateLimitedCodeRATELIMITED, Message: r.Text},
		})}
	}
	return gen.ExecuteClientTool400JSONResponse{Of: response.Value(invalidRequest(r.Text))}
}
