package agents

import (
	"net/http"

	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/session"
)

// A result is an answer of any operation.
type result struct{ answer.Writer }

func (r result) VisitStartAgentResponse(w http.ResponseWriter) error        { return r.Write(w) }
func (r result) VisitResumeAgentResponse(w http.ResponseWriter) error       { return r.Write(w) }
func (r result) VisitStopAgentResponse(w http.ResponseWriter) error         { return r.Write(w) }
func (r result) VisitUpdateFromSessionResponse(w http.ResponseWriter) error { return r.Write(w) }
func (r result) VisitGetToolsResponse(w http.ResponseWriter) error          { return r.Write(w) }
func (r result) VisitAddExtensionResponse(w http.ResponseWriter) error      { return r.Write(w) }
func (r result) VisitRemoveExtensionResponse(w http.ResponseWriter) error   { return r.Write(w) }

// done says nothing but that it is done.
var done = result{answer.Empty{Status: http.StatusOK}}

// refuse answers with the text of an error.
func refuse(status int, text string) result { return result{answer.Message(status, text)} }

func sendSession(s session.Session) result {
	w := jsonwire.NewWriter(nil)
	s.Write(w)
	return result{answer.JSON{Status: http.StatusOK, Body: w.Text()}}
}
