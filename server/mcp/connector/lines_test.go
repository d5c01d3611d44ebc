package connector

import (
	"errors"
	"testing"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

func TestALineWithHalfAMessageEndsTheConnection(t *testing.T) {
	s := newSet(t)
	config := server(t, "test", "scripted")
	add(t, s, config)
	result := make(chan string, 1)
	go func() { result <- written(s.Call(t.Context(), quiet("test__half", "{}"))) }()
	if got := within(t, "half a message", result); got != "error -32603: Connection closed" {
		t.Error(got)
	}
	if err := s.Add(t.Context(), server(t, "half", "halting")); !errors.Is(err, mcperror.NotMCP) {
		t.Errorf("half an introduction: %v, want %v", err, mcperror.NotMCP)
	}
}
