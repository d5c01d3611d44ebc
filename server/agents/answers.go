package agents

import (
	"net/http"

	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/session"
)

// A reply is an answer of any operation.
type reply struct{ answer.Writer }

func (r reply) VisitStartAgentResponse(w http.ResponseWriter) error        { return r.Write(w) }
func (r reply) VisitResumeAgentResponse(w http.ResponseWriter) error       { return r.Write(w) }
func (r reply) VisitStopAgentResponse(w http.ResponseWriter) error         { return r.Write(w) }
func (r reply) VisitUpdateFromSessionResponse(w http.ResponseWriter) error { return r.Write(w) }
func (r reply) VisitGetToolsResponse(w http.ResponseWriter) error          { return r.Write(w) }

// done says nothing but that it is done.
var done = reply{answer.Empty{Status: http.StatusOK}}

// refuse answers with the text of an error.
func refuse(status int, text string) reply { return reply{answer.Message(status, text)} }

func sendSession(s session.Session) reply {
	w := jsonwire.NewWriter(nil)
	s.Write(w)
	return reply{answer.JSON{Status: http.StatusOK, Body: w.Text()}}
}
