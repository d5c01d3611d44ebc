package connector

import (
	"errors"
	"net/http"
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

func TestAnotherOriginForMessagesIsRejected(t *testing.T) {
	asked := make(chan string, 10)
	other := serveScript(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Method }))
	uri := serveScript(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sendEvents(w, "event: endpoint\ndata: "+other+"/messages\n\n")
		<-r.Context().Done()
	}))
	err := newSet(t).Add(t.Context(), extension.Config{Type: "sse", Name: "x", URI: uri})
	if !errors.Is(err, mcperror.NotMCP) || len(asked) > 0 {
		t.Errorf("%v, and the other origin was asked %d times", err, len(asked))
	}
}
