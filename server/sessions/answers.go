package sessions

import (
	"net/http"

	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/session"
)

// A reply is an answer of any operation. The generated answers are not used: they know neither the order of keys nor the
// digits of numbers.
type reply struct{ answer.Writer }

func (r reply) VisitListSessionsResponse(w http.ResponseWriter) error       { return r.Write(w) }
func (r reply) VisitGetSessionResponse(w http.ResponseWriter) error         { return r.Write(w) }
func (r reply) VisitDeleteSessionResponse(w http.ResponseWriter) error      { return r.Write(w) }
func (r reply) VisitExportSessionResponse(w http.ResponseWriter) error      { return r.Write(w) }
func (r reply) VisitImportSessionResponse(w http.ResponseWriter) error      { return r.Write(w) }
func (r reply) VisitGetSessionInsightsResponse(w http.ResponseWriter) error { return r.Write(w) }
func (r reply) VisitUpdateSessionNameResponse(w http.ResponseWriter) error  { return r.Write(w) }
func (r reply) VisitEditMessageResponse(w http.ResponseWriter) error        { return r.Write(w) }
func (r reply) VisitUpdateSessionUserRecipeValuesResponse(w http.ResponseWriter) error {
	return r.Write(w)
}

// done says nothing but that it is done.
var done = reply{answer.Empty{Status: http.StatusOK}}

func sendSession(s session.Session) reply {
	w := jsonwire.NewWriter(nil)
	s.Write(w)
	return reply{answer.JSON{Status: http.StatusOK, Body: w.Text()}}
}
