package clienttools

import (
	"errors"
	"net/http"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/body"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

// A reply is an answer of any operation. The generated answers are not used: they escape <, > and &, end in a line break
// and sort the keys of maps (CT 3.1, 2.4).
type reply struct{ answer.Writer }

func (r reply) VisitRegisterClientToolsResponse(w http.ResponseWriter) error    { return r.Write(w) }
func (r reply) VisitUnregisterClientToolsResponse(w http.ResponseWriter) error  { return r.Write(w) }
func (r reply) VisitSubmitClientToolResultResponse(w http.ResponseWriter) error { return r.Write(w) }
func (r reply) VisitExecuteClientToolResponse(w http.ResponseWriter) error      { return r.Write(w) }
func (r reply) VisitListAllClientToolsResponse(w http.ResponseWriter) error     { return r.Write(w) }
func (r reply) VisitListClientToolsResponse(w http.ResponseWriter) error        { return r.Write(w) }

// What the operations answer when all is well.
func registered(result api.RegisterResult) reply     { return send(http.StatusOK, result) }
func unregistered(result api.UnregisterResult) reply { return send(http.StatusOK, result) }
func submitted(result api.SubmitResultResult) reply  { return send(http.StatusOK, result) }
func executed(result api.ClientToolResult) reply     { return send(http.StatusOK, result) }
func toolList(tools api.ClientToolList) reply        { return send(http.StatusOK, tools) }

// toolsByID answers with an object that keeps the order of the tools.
func toolsByID(tools []api.ClientToolDefinition) reply {
	text := jsonwire.Text{'{'}
	for i, tool := range tools {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(jsonwire.AppendQuoted(text, tool.ID), ':')
		text = append(text, jsonwire.Marshal(tool)...)
	}
	return reply{answer.JSON{Status: http.StatusOK, Body: append(text, '}')}}
}

func send(status int, body any) reply { return reply{problem(status, body)} }

func problem(status int, body any) answer.JSON {
	return answer.JSON{Status: status, Body: jsonwire.Marshal(body)}
}

// Refusals are the answers to bodies that are not read to their end.
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

// executeRefusals are the same, coded.
var executeRefusals = body.Refusals{
	TooLarge: invalidRequest(http.StatusRequestEntityTooLarge, string(api.BodyTooLargeErrorErrorRequestBodyTooLarge)),
	TooSlow:  invalidRequest(http.StatusRequestTimeout, string(api.BodyTooSlowErrorErrorRequestBodyTooSlow)),
	Busy:     executionFailed(http.StatusServiceUnavailable, string(api.TooManyRequestsErrorErrorTooManyRequestsInProgress)),
}

var (
	// CT 3.4 step 4
	malformed = problem(http.StatusInternalServerError, api.MalformedBodyError{
		Name: api.MalformedBodyErrorNameUnknownError,
		Data: api.MalformedBodyDetail{Message: api.MalformedBodyDetailMessageErrorMalformedJSONInRequestBody},
	})
	// CT 4.3
	unknownRequest = problem(http.StatusNotFound, api.UnknownRequestError{
		Error: api.UnknownRequestErrorErrorUnknownRequestID,
	})
	// CT 9.3
	tooManyTools   = tooMany(api.TooManyToolsMessageTooManyTools)
	tooManyClients = tooMany(api.TooManyToolsMessageTooManyClients)
	// CT 4.4, decision S11
	executeMalformed      = invalidRequest(http.StatusBadRequest, "Invalid JSON body")
	executeRequestPending = invalidRequest(http.StatusBadRequest, "Request ID is already pending")
	executeToolNotFound   = problem(http.StatusNotFound, api.ToolNotFoundError{
		Error: api.ToolNotFound{Code: api.ToolNotFoundCodeNOTFOUND, Message: api.ToolNotFoundMessageToolNotFound},
	})
)

func tooMany(message api.TooManyToolsMessage) answer.JSON {
	return problem(http.StatusTooManyRequests, api.TooManyToolsError{
		Error: api.TooManyTools{Code: api.TooManyToolsCodeRATELIMITED, Message: message},
	})
}

func invalidRequest(status int, message string) answer.JSON {
	return problem(status, api.InvalidRequestError{
		Error: api.InvalidRequest{Code: api.InvalidRequestCodeINVALIDREQUEST, Message: message},
	})
}

func executionFailed(status int, message string) answer.JSON {
	return problem(status, api.ExecutionFailedError{
		Error: api.ExecutionFailed{Code: api.ExecutionFailedCodeINTERNALERROR, Message: message},
	})
}

// RefuseExecute is the answer of /client-tools/execute to several directories (decision S3).
func RefuseExecute([]string) answer.Writer {
	return invalidRequest(http.StatusBadRequest, "Invalid input: expected string, received array")
}

// notExecuted answers an execution that has no result (CT 4.4). An error it does not know is returned.
func notExecuted(err error) (reply, error) {
	var failure *Failure
	switch {
	case errors.Is(err, ErrToolNotFound):
		return reply{executeToolNotFound}, nil
	case errors.Is(err, ErrRequestPending):
		return reply{executeRequestPending}, nil
	case errors.As(err, &failure) && failure.TimedOut:
		return send(http.StatusGatewayTimeout, api.ExecutionTimeoutError{
			Error: api.ExecutionTimeout{Code: api.ExecutionTimeoutCodeTIMEOUT, Message: failure.Text},
		}), nil
	case errors.As(err, &failure):
		return reply{executionFailed(http.StatusInternalServerError, failure.Text)}, nil
	}
	return reply{}, err
}
