package connector

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
)

func TestTheDeveloperWorksInTheServersDirectory(t *testing.T) {
	s := newSet(t)
	add(t, s, extension.Config{Type: "builtin", Name: "Developer"})
	tools, err := s.ToolsOf(t.Context(), "developer")
	if got := names(tools); got != "developer__analyze developer__image_processor developer__list_windows developer__screen_capture developer__shell developer__text_editor" || err != nil {
		t.Errorf("tools: %s, %v", got, err)
	}
	if got := written(s.Call(t.Context(), quiet("developer__shell", `{"command":"pwd -P"}`))); !strings.Contains(got, s.connector.Directory) {
		t.Errorf("it works in %s, not in %s", got, s.connector.Directory)
	}
	if got := written(s.Call(t.Context(), quiet("developer__text_editor", `{"command":"write","path":"a","file_text":"x"}`))); !strings.Contains(got, "Successfully wrote to a") {
		t.Error(got)
	}
}

func TestUnknownBuiltins(t *testing.T) {
	s := newSet(t)
	for name, want := range map[string]string{"Memory": "Extension is not built on this server: Memory", "magic": "Unknown builtin extension: magic"} {
		if err := s.Add(t.Context(), extension.Config{Type: "builtin", Name: name}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
