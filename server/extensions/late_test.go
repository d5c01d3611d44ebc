package extensions

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/extension"
)

func TestAnAnswerThatIsLateDoesNotCount(t *testing.T) {
	for _, tc := range []struct {
		cause error
		want  string
	}{
		{late(time.Second), "No answer within 1 s"},
		{closed, "-1: x"}, // it came before the end
		{errors.New("the client has gone"), "-1: x"},
	} {
		x := &client{timeout: time.Second, tap: &tap{awaited: map[jsonrpc.ID]*answer{}}}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(tc.cause)
		_, err := x.ask(ctx, func(ctx context.Context) error {
			*ctx.Value(awaitKey{}).(*answer) = answer{there: true, err: &jsonrpc.Error{Code: -1, Message: "x"}}
			return nil
		})
		if err == nil || err.Error() != tc.want {
			t.Errorf("%v: %v, want %s", tc.cause, err, tc.want)
		}
	}
}

func TestAnotherOriginForMessagesIsRefused(t *testing.T) {
	asked := make(chan string, 10)
	other := serveScript(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Method }))
	uri := serveScript(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sendEvents(w, "event: endpoint\ndata: "+other+"/messages\n\n")
		<-r.Context().Done()
	}))
	err := newSet(t).Add(t.Context(), extension.Config{Type: "sse", Name: "x", URI: uri})
	if !errors.Is(err, noMCP) || len(asked) > 0 {
		t.Errorf("%v, and the other origin was asked %d times", err, len(asked))
	}
}
