package llm_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/definition"
)

// broken has unreadable secrets, except one that may be in the environment.
type broken struct{ settings }

func (b broken) Secret(key string) (json.RawMessage, error) {
	if text, ok := b.settings[key]; ok {
		return json.RawMessage(text), nil
	}
	return nil, errors.New("secrets.yaml: not a YAML mapping")
}

func TestUnreadableSecretsAreReportedOnlyInTheLog(t *testing.T) {
	for key, s := range map[string]settings{
		"OPENAI_API_KEY":        {},
		"OPENAI_CUSTOM_HEADERS": {"OPENAI_API_KEY": `"k"`},
	} {
		var log strings.Builder
		f := &llm.Factory{Settings: broken{s}, Env: variables(nil).lookup, Definitions: definition.NewStore(t.TempDir()), Log: slog.New(slog.NewTextHandler(&log, nil))}
		if _, err := f.New("openai", llm.ModelConfig{ModelName: "m"}); err == nil || err.Error() != "Internal error" {
			t.Errorf("%s: %v, want Internal error", key, err)
		}
		if got := log.String(); !strings.Contains(got, "key="+key) || !strings.Contains(got, "not a YAML mapping") {
			t.Errorf("%s: the log has %q", key, got)
		}
	}
}
