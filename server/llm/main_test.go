package llm_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/definition"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// settings are settings for tests: JSON values by key.
type settings map[string]string

func (s settings) Setting(key string) (json.RawMessage, error) { return s.Secret(key) }

func (s settings) Secret(key string) (json.RawMessage, error) {
	if text, ok := s[key]; ok {
		return json.RawMessage(text), nil
	}
	return nil, nil
}

// variables are an environment for tests.
type variables map[string]string

func (v variables) lookup(name string) (string, bool) {
	value, set := v[name]
	return value, set
}

var openAI = settings{"OPENAI_API_KEY": `"sk-secret"`, "OPENAI_HOST": `"http://model.test"`}

// provider creates a provider, and fails if that is not possible.
func provider(t testing.TB, name, model string, s settings, transport http.RoundTripper, env variables) *llm.Provider {
	t.Helper()
	f := &llm.Factory{Settings: s, Env: env.lookup, Definitions: definition.NewStore(t.TempDir()), Transport: transport}
	config, err := f.Config(model)
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.New(name, config)
	if err != nil {
		t.Fatalf("New(%q): %v", name, err)
	}
	return p
}

// show returns a piece as JSON, for comparison.
func show(piece llm.Piece) string {
	w := jsonwire.NewWriter(nil)
	w.Open('[')
	if piece.Message != nil {
		m := *piece.Message
		m.Created = 0
		w.String(m.ID)
		for _, item := range m.Content {
			item.Write(w)
		}
	}
	if u := piece.Usage; u != nil {
		w.IntOrNull(u.Input)
		w.IntOrNull(u.Output)
		w.IntOrNull(u.Total)
	}
	w.Close(']')
	return string(w.Text())
}
