package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	agentsdk "github.com/lockstep-dev/lockstep/sdk/agent"
)

func TestErrorsAreDescribedByTheirKind(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&agentsdk.CLINotFoundError{}, `{"kind":"not found"}`},
		{&agentsdk.CLIConnectionError{ExitCode: 3}, `{"kind":"connection","exitCode":3}`},
		{&agentsdk.CLIConnectionError{ExitCode: -1, Signal: "killed"}, `{"kind":"connection","signal":"SIGKILL"}`},
		{fmt.Errorf("start: %w", &agentsdk.CLIConnectionError{ExitCode: -1}), `{"kind":"connection"}`},
		{&agentsdk.ControlProtocolError{ErrorCode: "invalid_mode"}, `{"kind":"protocol","code":"invalid_mode"}`},
		{&agentsdk.TimeoutError{}, `{"kind":"timeout"}`},
		{&agentsdk.InvalidStateError{}, `{"kind":"state"}`},
		{&agentsdk.OptionError{}, `{"kind":"options"}`},
		{errors.New("anything"), `{"kind":"other"}`},
	} {
		if got, _ := json.Marshal(describe(tt.err)); string(got) != tt.want {
			t.Errorf("describe(%T) = %s, want %s", tt.err, got, tt.want)
		}
	}
}

func TestAnOutcomeIsShortAndKeepsItsNumbers(t *testing.T) {
	raw := json.RawMessage(`[{"n":1e400,"text":"<&>","long":"` + strings.Repeat("x", 1001) + `","limit":"` + strings.Repeat("y", 1000) + `"}]`)
	got := string(line(map[string]any{"id": 7, "ok": raw}))
	want := `{"id":7,"ok":[{"limit":"` + strings.Repeat("y", 1000) + `","long":"<1001 characters>","n":1e400,"text":"<&>"}]}` + "\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTheFieldsOfASchemaKeepTheirOrder(t *testing.T) {
	for input, want := range map[string]string{
		``:                          `{"properties":{},"type":"object"}`,
		`{"b":"number","a":"any"}`:  `{"properties":{"a":{},"b":{"type":"number"}},"required":["b","a"],"type":"object"}`,
		`{"a":"string","b":"bool"}`: `{"properties":{"a":{"type":"string"},"b":{"type":"bool"}},"required":["a","b"],"type":"object"}`,
	} {
		if got := string(schema(json.RawMessage(input))); got != want {
			t.Errorf("schema(%s) = %s, want %s", input, got, want)
		}
	}
}

func TestAnswersGoByTheirToolElseByTheirOrder(t *testing.T) {
	p := permissions{answers: []permission{{Input: map[string]any{"n": 1}}, {For: "Write"}, {Input: map[string]any{"n": 2}}}}
	var got []any
	for _, tool := range []string{"Bash", "Write", "Read", "Bash"} {
		got = append(got, p.next(tool).Input["n"])
	}
	if d := cmp.Diff([]any{1, nil, 2, 2}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAHandlerHoldsUntilItIsReleased(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	if err := (&script{Release: "early"}).before(ctx, "tool a"); err != nil {
		t.Fatal(err)
	}
	if err := (&script{Hold: "early"}).before(ctx, "tool b"); err != nil {
		t.Errorf("released before: %v", err)
	}
	done := make(chan error)
	go func() { done <- (&script{Hold: "late"}).before(ctx, "tool c") }()
	if err := release("late"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("released after: %v", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if err := (&script{Hold: "never"}).before(ended, "tool d"); err == nil || !cmp.Equal(look()["cancelled"], []any{"tool d"}) {
		t.Errorf("cancelled: %v, seen %v", err, look()["cancelled"])
	}
}

func TestAnActionThatCannotBeDoneIsAnError(t *testing.T) {
	for _, do := range []string{"fly", "send", "interrupt"} {
		if got, want := string((&command{ID: 3, Do: do}).outcome(t.Context())), `{"error":{"kind":"other"},"id":3}`+"\n"; got != want {
			t.Errorf("%s: got %s, want %s", do, got, want)
		}
	}
}
