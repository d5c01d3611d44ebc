package connector

import (
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// TestAServerThatEndsAtOnce uses servers that end at any moment: before or after something is written to them.
func TestAServerThatEndsAtOnce(t *testing.T) {
	s := newSet(t)
	for range 200 {
		if err := s.Add(t.Context(), extension.Config{Type: "stdio", Name: "x", Cmd: "true"}); err == nil || err.Error() != string(mcperror.Closed) {
			t.Fatalf("%v, want %s", err, mcperror.Closed)
		}
	}
}
