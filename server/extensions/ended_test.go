package extensions

import (
	"testing"

	"github.com/lockstep-dev/lockstep/server/extension"
)

// TestAServerThatEndsAtOnce has servers that end at all moments: before something is written to them, and behind that.
func TestAServerThatEndsAtOnce(t *testing.T) {
	s := newSet(t)
	for range 200 {
		if err := s.Add(t.Context(), extension.Config{Type: "stdio", Name: "x", Cmd: "true"}); err == nil || err.Error() != string(closed) {
			t.Fatalf("%v, want %s", err, closed)
		}
	}
}
