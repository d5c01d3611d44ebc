package connector

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

func TestAServerWithoutANameIsRejected(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		h := &heard{}
		uri := serveScript(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			h.add(body)
			if !strings.Contains(string(body), `"initialize"`) {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			answer := `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{}}}`
			if kind == "text/event-stream" {
				sendEvents(w, "data: "+answer+"\n\n")
				return
			}
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, answer)
		}))
		err := newSet(t).Add(t.Context(), extension.Config{Type: "streamable_http", Name: "x", URI: uri})
		if !errors.Is(err, mcperror.NotMCP) || h.count("notifications/initialized") > 0 {
			t.Errorf("%s: %v, and it was told that all is well %d times", kind, err, h.count("notifications/initialized"))
		}
	}
}

func TestRootsAreNotAnnounced(t *testing.T) {
	s := newSet(t)
	add(t, s, server(t, "test", "scripted"))
	want := `{"type":"text","text":"-32601: `
	if got := written(s.Call(t.Context(), quiet("test__roots", "{}"))); !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
