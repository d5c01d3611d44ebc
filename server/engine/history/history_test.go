package history_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/history"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// These are items for conversations. A message is written as "u" or "a" for its role, or "-u" if the agent does not
// see it, followed by items.
const (
	call1  = `{"type":"toolRequest","id":"1","toolCall":{"status":"success","value":{"name":"x","arguments":{"a":1}}}}`
	call2  = `{"type":"toolRequest","id":"2","toolCall":{"status":"success","value":{"name":"y"}}}`
	broken = `{"type":"toolRequest","id":"3","toolCall":{"status":"error","error":"-32602: no"}}`
	done1  = `{"type":"toolResponse","id":"1","toolResult":{"status":"success","value":[{"type":"text","text":"ok"}]}}`
	done2  = `{"type":"toolResponse","id":"2","toolResult":{"status":"success","value":[]}}`
	done3  = `{"type":"toolResponse","id":"3","toolResult":{"status":"success","value":[]}}`
	ask    = `{"type":"actionRequired","data":{"actionType":"elicitation","id":"e","message":"?","requested_schema":{}}}`
	notice = `{"type":"systemNotification","notificationType":"inlineMessage","msg":"n"}`
	image  = `{"type":"image","data":"QQ==","mimeType":"image/png"}`
)

func text(s string) string { return `{"type":"text","text":"` + s + `"}` }

func conversation(t *testing.T, lines ...string) (messages []message.Message) {
	t.Helper()
	for _, line := range lines {
		who, items, _ := strings.Cut(line, " ")
		m := message.Message{Role: message.User, Metadata: message.Visible}
		if strings.HasSuffix(who, "a") {
			m.Role = message.Assistant
		}
		m.Metadata.AgentVisible = !strings.HasPrefix(who, "-")
		text := `{"role":"user","created":0,"content":[` + items + `],"metadata":{"userVisible":true,"agentVisible":true}}`
		whole, err := decode.Text([]byte(text), message.Decode)
		if err != nil {
			t.Fatalf("%s: %v", items, err)
		}
		m.Content = whole.Content
		messages = append(messages, m)
	}
	return messages
}

// lines is the reverse of conversation.
func lines(messages []message.Message) (lines []string) {
	for _, m := range messages {
		w := jsonwire.NewWriter(nil)
		message.WriteContents(w, m.Content)
		lines = append(lines, string(m.Role[:1])+" "+strings.Trim(string(w.Text()), "[]"))
	}
	return lines
}

func TestAHistoryIsRepaired(t *testing.T) {
	for _, tc := range []struct {
		name     string
		in, want []string
	}{
		{"nothing to do", []string{"u " + text("a"), "a " + text("b"), "u " + text("c")}, []string{"u " + text("a"), "a " + text("b"), "u " + text("c")}},
		{"nothing at all", nil, []string{"u " + text("Hello")}},
		{"nothing that is seen", []string{"-u " + text("a")}, []string{"u " + text("Hello")}},
		{"items for others", []string{"u " + text("a") + "," + ask, "a " + notice, "u " + ask}, []string{"u " + text("a")}},
		{"items of the other role", []string{"u " + text("a") + "," + call1 + "," + done1, "a " + text("b") + "," + call2 + "," + done2, "u " + text("c")}, []string{"u " + text("a"), "a " + text("b"), "u " + text("c")}},
		{"adjacent texts", []string{"u " + text("a") + "," + text("b"), "a " + text("c ") + "," + text("d ") + "," + call1, "u " + done1},
			[]string{"u " + text("a") + "," + text("b"), "a " + text("c d") + "," + call1, "u " + done1}},
		{"empty texts", []string{"u " + text(""), "u " + text("a"), "a " + text("  ") + "," + call1, "u " + done1},
			[]string{"u " + text("a"), "a " + call1, "u " + done1}},
		{"an image is not empty", []string{"u " + text("") + "," + image}, []string{"u " + text("") + "," + image}},
		{"loose requests and responses", []string{"u " + text("a") + "," + done2, "a " + call1 + "," + call2 + "," + broken, "u " + done1, "u " + done3},
			[]string{"u " + text("a"), "a " + call1, "u " + done1}},
		{"a response before its request", []string{"u " + text("a"), "u " + done1, "a " + call1, "u " + text("b")}, []string{"u " + text("a") + "," + text("b")}},
		{"an id that is used again", []string{"u " + text("a"), "a " + call1, "u " + done1, "a " + call1, "u " + text("b")},
			[]string{"u " + text("a"), "a " + call1, "u " + done1, "u " + text("b")}},
		{"a response before the same id", []string{"u " + text("a"), "u " + done1, "a " + call1, "u " + done1},
			[]string{"u " + text("a"), "a " + call1, "u " + done1}},
		{"two responses", []string{"u " + text("a"), "a " + call1, "u " + done1 + "," + done1}, []string{"u " + text("a"), "a " + call1, "u " + done1 + "," + done1}},
		{"neighbours", []string{"u " + text("a"), "u " + text("b"), "a " + text("c"), "a " + call1, "a " + call2, "u " + done1, "u " + done2, "u " + text("d")},
			[]string{"u " + text("a") + "," + text("b"), "a " + text("c") + "," + call1 + "," + call2, "u " + done1 + "," + done2, "u " + text("d")}},
		{"pairs stay pairs", []string{"u " + text("a"), "a " + call1, "u " + done1, "a " + call2, "u " + done2},
			[]string{"u " + text("a"), "a " + call1, "u " + done1, "a " + call2, "u " + done2}},
		{"ends", []string{"a " + text("x"), "u " + text("a"), "a " + text("b")}, []string{"u " + text("a")}},
		{"an end whose response stays behind", []string{"a " + call1, "u " + done1, "a " + text("b"), "u " + text("c")}, []string{"u " + text("c")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := conversation(t, tc.in...)
			before := lines(in)
			if diff := cmp.Diff(tc.want, lines(history.Repair(in))); diff != "" {
				t.Errorf("Repair (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, lines(in)); diff != "" {
				t.Errorf("Repair has changed what it was given:\n%s", diff)
			}
		})
	}
}

func TestTheNoteIsBeforeTheLastAnswer(t *testing.T) {
	for _, tc := range []struct{ in, want []string }{
		{[]string{"u " + text("a")}, []string{"u " + text("NOTE") + "," + text("a")}},
		{[]string{"u " + text("a"), "a " + text("b"), "u " + text("c")}, []string{"u " + text("a") + "," + text("NOTE"), "a " + text("b"), "u " + text("c")}},
		{[]string{"u " + text("a"), "a " + call1, "u " + done1}, []string{"u " + text("a") + "," + text("NOTE"), "a " + call1, "u " + done1}},
		{[]string{"u " + text("a"), "a " + call1, "u " + done1, "a " + call2, "u " + done2},
			[]string{"u " + text("a"), "a " + call1, "u " + done1, "u " + text("NOTE"), "a " + call2, "u " + done2}},
	} {
		in := conversation(t, tc.in...)
		before := lines(in)
		if diff := cmp.Diff(tc.want, lines(history.WithNote(in, "NOTE"))); diff != "" {
			t.Errorf("WithNote(%v) (-want +got):\n%s", tc.in, diff)
		}
		if diff := cmp.Diff(before, lines(in)); diff != "" {
			t.Errorf("WithNote has changed what it was given:\n%s", diff)
		}
	}
}

func TestTheNote(t *testing.T) {
	at := time.Date(2026, 11, 20, 19, 15, 0, 999, time.UTC)
	if got, want := history.Note(at, "/w", nil), "<context>\nDate and time: 2026-11-20T19:15:00Z\nWorking directory: /w\n</context>"; got != want {
		t.Errorf("Note = %q, want %q", got, want)
	}
	at = at.In(time.FixedZone("", 5400))
	if got, want := history.Note(at, "/w", []string{"Todo list:\n- a"}),
		"<context>\nDate and time: 2026-11-20T20:45:00+01:30\nWorking directory: /w\nTodo list:\n- a\n</context>"; got != want {
		t.Errorf("Note = %q, want %q", got, want)
	}
}

func TestTheTranscript(t *testing.T) {
	in := conversation(t, "-u "+text("hidden"), "u "+text("a")+","+image, "a "+text("b")+","+call1+","+call2+","+broken, "u "+done1, "a "+notice)
	want := "user: a\n\nuser: [image]\n\nassistant: b\n\nassistant calls x {\"a\":1}\n\nassistant calls y {}"
	if got := history.Transcript(in, true); got != want+"\n\ntool answers: ok" {
		t.Errorf("with results: %q", got)
	}
	if got := history.Transcript(in, false); got != want {
		t.Errorf("without: %q", got)
	}
	if got := history.Estimate(in); got != 3 { // M26: a, b, {"a":1} and ok are 11 bytes
		t.Errorf("Estimate = %d, want 3", got)
	}
}

func TestTheLatestText(t *testing.T) {
	in := conversation(t, "u "+text("a"), "a "+call1, "u "+done1, "u "+image, "-u "+text("b"), "u "+text("c")+","+done2)
	if got := history.LatestText(in); got != 0 {
		t.Errorf("LatestText = %d, want 0", got)
	}
	if got := history.LatestText(in[1:]); got != -1 {
		t.Errorf("LatestText = %d, want -1", got)
	}
}
