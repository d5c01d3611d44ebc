//go:build unix

package turn_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/testfile"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/hooks"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// sh returns a hook that runs a script for the tools that match.
func sh(match, script string) hooks.Hook {
	return hooks.Hook{Match: match, Command: []string{"/bin/sh", "-c", script}, Timeout: time.Minute}
}

// hook gives the service hooks.
func (r *rig) hook(before, after []hooks.Hook) {
	r.service.Hooks = hooks.New(hooks.Lists{Before: before, After: after}, hooks.Options{Environment: os.Environ()})
}

func TestHooksDecideAboutTheModelsCalls(t *testing.T) {
	const (
		counts   = `echo >>%; echo '{"decision":"allow","input":{"n":2}}'`
		denies   = `echo >>%; echo '{"decision":"deny","reason":"No"}'`
		refused  = "The user has declined this tool call. Do not try it again."
		onlyChat = "Tools do not run in chat mode. Explain what you would do with this call."
	)
	for _, tc := range []struct {
		name, mode, tool, script string
		decision                 string // of the user; "" if the user is not asked
		asked                    string // the arguments in the question
		result, saved            string // the result, and the saved arguments
		runs                     int
	}{
		{"another input", "auto", "dev__echo", counts, "", "", `echo{"n":2}`, `{"n":2}`, 1},
		{"nothing", "auto", "dev__echo", "echo >>%", "", "", `echo{"n":5}`, `{"n":5}`, 1},
		{"denied", "auto", "dev__echo", denies, "", "", "Error: No", `{"n":5}`, 1},
		{"failed", "auto", "dev__echo", "echo >>%; exit 1", "", "", "Error: Hook failed: /bin/sh", `{"n":5}`, 1},
		{"a tool that is not built", "auto", "platform__manage_schedule", counts, "", "", "Error: -32603: platform__manage_schedule is not built on this server", `{"n":2}`, 1},
		{"after the question of goose", "approve", "dev__echo", counts, "allow_once", `{"n":"5"}`, `echo{"n":2}`, `{"n":2}`, 1},
		{"not for a declined call", "approve", "dev__echo", counts, "deny", `{"n":"5"}`, refused, `{"n":5}`, 0},
		{"not in chat", "chat", "dev__echo", counts, "", "", onlyChat, `{"n":5}`, 0},
		{"before the question of a guard", "auto", "asked", counts, "allow_once", `{"n":2}`, `ran{"n":2}`, `{"n":2}`, 1},
		{"no question of a guard after a denial", "auto", "asked", denies, "", "", "Error: No", `{"n":5}`, 1},
		{"the question of a guard without a change", "auto", "asked", "echo >>%", "allow_once", `{"n":"5"}`, `ran{"n":5}`, `{"n":5}`, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r, _ := ofClient(t, says(llmtest.Calls("c1", tc.tool, `{"n":"5"}`), llmtest.Says("c2", "Done.")), "asked")
				box := r.agent.Extensions.(*tools)
				schedule := box.snapshot.Tools[0]
				schedule.Name = "platform__manage_schedule"
				box.snapshot.Tools = append(box.snapshot.Tools, schedule)
				ran := filepath.Join(t.TempDir(), "ran")
				testfile.Write(t, ran, "")
				r.settings["GOOSE_MODE"] = quoted(tc.mode)
				r.hook([]hooks.Hook{sh("*", strings.ReplaceAll(tc.script, "%", ran))}, nil)
				want := []string{"a c1 call:call_1:" + tc.tool + `{"n":"5"} 0`}
				if tc.decision != "" {
					r.decide("call_1", tc.decision)
					want = append(want, "a- confirm:call_1:"+tc.tool+tc.asked+" 27")
				}
				same(t, "events", append(want, "u * result:call_1:"+tc.result+" 27", "a c2 Done. 27", "Finish stop 15/42"), r.reply(user("hi")))
				same(t, "saved", "a call:call_1:"+tc.tool+tc.saved, r.saved()[1])
				same(t, "runs of the hook", tc.runs, len(testfile.Read(t, ran)))
			})
		})
	}
}

// shows is a hook after a call that answers with the end of its line: the input and what follows.
const shows = `sed 's/^.*"tool":\(.*\)}$/\1/; s/["\\]/-/g; s/.*/{"output":"&"}/'`

func TestHooksSeeTheResultsOfTheModelsCalls(t *testing.T) {
	image := message.ToolImage{Data: "aGk=", MIMEType: "image/png"}
	for _, tc := range []struct {
		name, tool string
		result     message.ToolResult // of the tool dev__echo
		want       string
	}{
		{"texts", "dev__echo", message.Success([]message.ToolContent{image, message.ToolText{Text: "a"}, message.ToolText{Text: "b"}}),
			`[image]
-dev__echo-,-input-:{},-sessionID-:-s1-,-callID-:-call_1-,-result-:{-status-:-success-,-output-:-a-nb-}`},
		{"no text", "dev__echo", message.Success([]message.ToolContent{image}),
			`-dev__echo-,-input-:{},-sessionID-:-s1-,-callID-:-call_1-,-result-:{-status-:-success-,-output-:--}
[image]`},
		{"error", "dev__echo", message.FailedResult("E"), `Error: -dev__echo-,-input-:{},-sessionID-:-s1-,-callID-:-call_1-,-result-:{-status-:-error-,-error-:-E-}`},
		{"of a client", "z", result(""), `-z-,-input-:{},-sessionID-:-s1-,-callID-:-call_1-,-clientID-:-c-,-result-:{-status-:-success-,-output-:-ran{}-}`},
		{"of an unknown tool", "nope__x", message.FailedResult("-32603: -32002: nope__x"), "Error: -32603: -32002: nope__x"},
		{"of a tool that is left out", "nope__x", message.FailedResult("-32603: -32002: Tool not available: nope__x"), "Error: -32603: -32002: Tool not available: nope__x"},
		{"of a call that was not sent", "limited", result(""), "ran{}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r, _ := ofClient(t, says(llmtest.Calls("c1", tc.tool, `{}`), llmtest.Says("c2", "Done.")), "z", "limited")
				box := r.agent.Extensions.(*tools)
				box.run["dev__echo"] = func(context.Context, toolbox.Call) message.ToolResult { return tc.result }
				box.run["nope__x"] = box.run["dev__echo"]
				r.hook(nil, []hooks.Hook{sh("*", shows)})
				same(t, "result", "u * result:call_1:"+tc.want+" 27", r.reply(user("hi"))[1])
			})
		})
	}
}

func TestALargeTextOfAHookIsShortened(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), says(llmtest.Calls("c1", "dev__echo", `{}`), llmtest.Says("c2", "Done.")))
		t.Cleanup(r.memory.Forget)
		t.Setenv("TMPDIR", t.TempDir())
		r.hook(nil, []hooks.Hook{sh("dev__*", `printf '{"output":"'; head -c 200001 /dev/zero | tr '\0' x; printf '"}'`)})
		if got := r.reply(user("hi"))[1]; !strings.HasPrefix(got, "u * result:call_1:The text of this tool was larger") {
			t.Errorf("the result is %.100s", got)
		}
	})
}

func TestHooksRunForTheCallsOfClients(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), says())
		r.hook([]hooks.Hook{sh("dev__echo", `grep -q '"input":{"n":5},"sessionID":"s1","callID":"call_1.1"}' && echo '{"decision":"allow","input":{"n":6}}'`)},
			[]hooks.Hook{sh("dev__echo", shows)})
		same(t, "result", result(`-dev__echo-,-input-:{-n-:6},-sessionID-:-s1-,-callID-:-call_1.1-,-result-:{-status-:-success-,-output-:-echo{--n--:6}-}`),
			r.service.Compose(t.Context(), "s1", echo(1, `{"n":"5"}`)))
		r.service.Hooks.Stop()
		same(t, "while the server stops", message.FailedResult("Server is shutting down"), r.service.Compose(t.Context(), "s1", echo(2, "{}")))
	})
}

func TestAReplyThatEndsKillsItsHook(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, echoing(), says(llmtest.Calls("c1", "dev__echo", `{}`)))
		r.hook([]hooks.Hook{sh("*", "sleep 600")}, nil)
		s := r.open(user("hi"))
		s.next()
		s.cancel()
		s.body.Close()
		s.rest()
		time.Sleep(time.Minute) // passes when the hook has ended
		same(t, "saved", []string{"u hi"}, r.saved())
	})
}
