package session_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func again(text string) (string, error) {
	s, err := decode.Text([]byte(text), session.Decode)
	if err != nil {
		return "", err
	}
	return string(jsonwire.Of(s)), nil
}

// fresh is the example of GA 4.7.
const fresh = `{"id":"20251210_3","working_dir":"/w","name":"New session 3","user_set_name":false,"session_type":"user",` +
	`"created_at":"2025-12-10T16:59:31Z","updated_at":"2025-12-10T16:59:31Z","extension_data":{},` +
	`"total_tokens":null,"input_tokens":null,"output_tokens":null,` +
	`"accumulated_total_tokens":null,"accumulated_input_tokens":null,"accumulated_output_tokens":null,` +
	`"schedule_id":null,"recipe":null,"user_recipe_values":null,"conversation":null,"message_count":0,` +
	`"provider_name":null,"model_config":null}`

func TestSessionsSurviveTheRoundTrip(t *testing.T) {
	full := strings.NewReplacer(
		`"schedule_id":null`, `"schedule_id":"daily"`,
		`"user_set_name":false,"session_type":"user"`, `"user_set_name":true,"session_type":"sub_agent"`,
		`"extension_data":{}`, `"extension_data":{"todo.v0":{"b":1.0,"a":12345678901234567890}}`,
		`"total_tokens":null`, `"total_tokens":0`,
		`"recipe":null`, `"recipe":{"version":"1.0.0","title":"t","description":"d","instructions":"i","extensions":[{"type":"platform","name":"todo","description":"","bundled":null,"available_tools":[]}],"settings":{"goose_model":"m","temperature":0.10},"activities":[],"author":{},"parameters":[{"key":"k","input_type":"select","requirement":"optional","description":"","default":"x","options":["x"]}],"response":{"json_schema":{"type":"object"}},"sub_recipes":[{"name":"n","path":"p","values":null,"sequential_when_repeated":false}],"retry":{"max_retries":1,"checks":[{"type":"Shell","command":"true"}],"timeout_seconds":5}}`,
		`"user_recipe_values":null`, `"user_recipe_values":{"z":"1","a":"\u0000"}`,
		`"conversation":null`, `"conversation":[{"id":"msg_x_0","role":"assistant","created":-1,"content":[],"metadata":{"userVisible":false,"agentVisible":true}}]`,
		`"provider_name":null,"model_config":null`, `"provider_name":"openai","model_config":{"model_name":"gpt-4o","context_limit":128000,"temperature":null,"max_tokens":null,"toolshim":false,"toolshim_model":null,"fast_model":"gpt-4o-mini"}`,
	).Replace(fresh)
	for _, in := range []string{fresh, full} {
		if got, err := again(in); err != nil || got != in {
			t.Errorf("written again: %v\n got %s\nwant %s", err, got, in)
		}
	}
}

func TestAnExportMayBeOldOrShort(t *testing.T) {
	const short = `{"id":"x","description":"New session 3","working_dir":"/w","created_at":"2025-12-10T17:59:31+01:00","updated_at":"2025-12-10T16:59:31Z","extension_data":{},"message_count":0}`
	want := strings.Replace(fresh, "20251210_3", "x", 1)
	if got, err := again(short); err != nil || got != want {
		t.Errorf("Decode of a short one: %v\n got %s\nwant %s", err, got, want)
	}
}

func TestDecodeDemandsWhatASessionNeeds(t *testing.T) {
	for _, name := range []string{"id", "working_dir", "name", "created_at", "updated_at", "extension_data", "message_count"} {
		_, err := again(strings.Replace(fresh, `"`+name+`":`, `"other":`, 1))
		if want := "missing field `" + name + "` at line 1 column "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	for change, want := range map[[2]string]string{
		{`"id":`, `"description":"d","id":`}:                    "description: duplicate field `name` at line 1 column 18",
		{`"session_type":"user"`, `"session_type":"mine"`}:      "session_type: unknown variant `mine`, expected one of `user`, `scheduled`, `sub_agent`, `hidden`, `terminal` at line 1 column 104",
		{`"message_count":0`, `"message_count":-1`}:             "message_count: invalid value: integer out of range at line 1 column ",
		{`"extension_data":{}`, `"extension_data":[]`}:          "extension_data: invalid type: array, expected an object at line 1 column ",
		{`"conversation":null`, `"conversation":[{}]`}:          "conversation[0]: missing field `role` at line 1 column ",
		{`"user_recipe_values":null`, `"user_recipe_values":1`}: "user_recipe_values: invalid type: number, expected an object at line 1 column ",
	} {
		_, err := again(strings.Replace(fresh, change[0], change[1], 1))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("with %s: %v\nwant %s", change[1], err, want)
		}
	}
}

func TestTheClientOfASession(t *testing.T) {
	for _, id := range []string{"c", "a/b \"ü\"", "\x00"} {
		if got := (session.Session{ExtensionData: session.ClientData(id)}).ClientID(); got != id {
			t.Errorf("the client of the data of %q is %q", id, got)
		}
	}
	for data, want := range map[string]string{
		`{"todo.v0":{"content":""},"client_tools.v0":{"x":1,"clientID":"c"}}`: "c",
		`{}`: "", `{"client_tools.v0":null}`: "", `{"client_tools.v0":"c"}`: "", `{"client_tools.v0":["clientID","c"]}`: "",
		`{"client_tools.v0":{}}`: "", `{"client_tools.v0":{"clientID":5}}`: "", `{"client_tools.v0":{"clientID":""}}`: "",
		`{"client_tools.v1":{"clientID":"c"}}`: "",
	} {
		if got := (session.Session{ExtensionData: json.RawMessage(data)}).ClientID(); got != want {
			t.Errorf("the client of %s is %q, want %q", data, got, want)
		}
	}
}
