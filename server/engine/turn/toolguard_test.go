package turn_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/syncbuffer"
	"github.com/lockstep-dev/lockstep/server/engine/permission"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// These are the question and the results of a call that runs chmod.
const (
	alert    = ":🔒 Security Alert: this call looks dangerous.\n\nFinding: Lets everybody write\nConfidence: 60%"
	ran      = `u * result:call_1:echo{"s":"chmod 777 x"} 27`
	refused  = "u * result:call_1:The user has declined this tool call. Do not try it again. 27"
	question = `a- confirm:call_1:dev__echo{"s":"chmod 777 x"}`
)

func TestDangerousCalls(t *testing.T) {
	for _, tc := range []struct {
		name       string
		set        settings
		permission permission.Level
		early      string // what is decided before the question
		want       []string
		permitted  permission.Level // afterwards
	}{
		{"nobody is warned by default", settings{}, "", "", []string{ran}, ""},
		{"the threshold is 0.7", settings{"security_prompt_enabled": "true"}, "", "", []string{ran}, ""},
		{"it can be as low as the finding", settings{"security_prompt_enabled": "true", "security_prompt_threshold": "0.6"}, "", "allow_once", []string{question + alert + " 27", ran}, ""},
		{"or lower", settings{"security_prompt_enabled": "true", "security_prompt_threshold": "0"}, "", "deny", []string{question + alert + " 27", refused}, ""},
		{"a text is no switch", settings{"security_prompt_enabled": `"true"`, "security_prompt_threshold": "0"}, "", "", []string{ran}, ""},
		{"a text is no threshold", settings{"security_prompt_enabled": "true", "security_prompt_threshold": `"0"`}, "", "", []string{ran}, ""},
		{"nor is a number above 1", settings{"security_prompt_enabled": "true", "security_prompt_threshold": "1.1"}, "", "", []string{ran}, ""},
		{"nor below 0", settings{"security_prompt_enabled": "true", "security_prompt_threshold": "-1"}, "", "", []string{ran}, ""},
		{"chat", settings{"security_prompt_enabled": "true", "security_prompt_threshold": "0", "GOOSE_MODE": `"chat"`}, "", "",
			[]string{"u * result:call_1:Tools do not run in chat mode. Explain what you would do with this call. 27"}, ""},
		{"what is always allowed", settings{"security_prompt_enabled": "true", "security_prompt_threshold": "0", "GOOSE_MODE": `"approve"`}, "always_allow", "allow_once",
			[]string{question + alert + " 27", ran}, "always_allow"},
		{"what is never allowed", settings{"security_prompt_enabled": "true", "security_prompt_threshold": "0", "GOOSE_MODE": `"approve"`}, "never_allow", "", []string{refused}, "never_allow"},
		{"what is asked about anyway", settings{"security_prompt_enabled": "true", "security_prompt_threshold": "0", "GOOSE_MODE": `"approve"`}, "ask_before", "allow_once",
			[]string{question + alert + " 27", ran}, "ask_before"},
		{"always", settings{"security_prompt_enabled": "true", "security_prompt_threshold": "0"}, "", "always_allow", []string{question + alert + " 27", ran}, "always_allow"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r := newRig(t, echoing(), says(llmtest.Calls("c1", "dev__echo", `{"s":"chmod 777 x"}`), llmtest.Says("c2", "Done.")))
				for key, value := range tc.set {
					r.settings[key] = value
				}
				if tc.permission != "" {
					r.allowed["dev__echo"] = tc.permission
				}
				if tc.early != "" {
					r.decide("call_1", tc.early)
				}
				want := append([]string{`a c1 call:call_1:dev__echo{"s":"chmod 777 x"} 0`}, tc.want...)
				same(t, "events", append(want, "a c2 Done. 27", "Finish stop 15/42"), r.reply(user("hi")))
				if got := r.allowed["dev__echo"]; got != tc.permitted {
					t.Errorf("the permission is %q afterwards, want %q", got, tc.permitted)
				}
			})
		})
	}
}

func TestAnAlertReplacesAnotherPrompt(t *testing.T) {
	timeless(t, func(t *testing.T) {
		const manage = "extensionmanager__manage_extensions"
		var log syncbuffer.Buffer
		r := newRig(t, echoing(), says(llmtest.Calls("c1", manage, `{"a":"x"}`, manage, `{"a":"sudo x"}`, "dev__echo", "{}"), llmtest.Says("c2", "Done.")))
		r.service.Log = slog.New(slog.NewTextHandler(&log, nil))
		r.settings["security_prompt_enabled"], r.settings["security_prompt_threshold"], r.settings["GOOSE_MODE"] = "true", "0.45", `"smart_approve"`
		for _, id := range []string{"call_1", "call_2", "call_3"} {
			r.decide(id, "deny")
		}
		same(t, "questions", []string{
			"a- confirm:call_1:" + manage + `{"a":"x"}:Extension management requires approval for security 27`,
			"a- confirm:call_2:" + manage + `{"a":"sudo x"}:🔒 Security Alert: this call looks dangerous.` + "\n\nFinding: Runs a command as root\nConfidence: 45% 27",
			"a- confirm:call_3:dev__echo{} 27",
		}, r.reply(user("hi"))[1:4])
		if text := log.String(); strings.Count(text, "dangerous call") != 1 || strings.Contains(text, "sudo") {
			t.Errorf("the log: %s", text)
		}
	})
}
