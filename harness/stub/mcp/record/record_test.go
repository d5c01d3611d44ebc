package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMissingParametersAreAbsent(t *testing.T) {
	for _, tc := range []struct {
		m    Message
		want string
	}{
		{Message{Method: "ping"}, "{}"},
		{Message{Method: "ping", Body: json.RawMessage("{}")}, "{}"},
		{Message{Method: "ping", Body: json.RawMessage("null")}, "null"}, // JSON-RPC does not allow null here
		{Message{Method: "tools/call", Body: json.RawMessage(`{"name":"a"}`)}, `{"name":"a"}`},
		{Message{Body: json.RawMessage(`{"action":"decline"}`)}, `{"action":"decline"}`},
		{Message{}, ""}, // a response without a result
	} {
		if got := string(tc.m.Parameters()); got != tc.want {
			t.Errorf("Parameters of %+v: %q, want %q", tc.m, got, tc.want)
		}
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 30, 0, 5, time.UTC)
	want := []Message{
		{At: at, Method: "tools/call", Body: json.RawMessage(`{"a":"1 < 2 ü","n":1.0}`)},
		{At: at, Method: "ping"},
		{At: at, Body: json.RawMessage(`{"action":"accept"}`)},
	}
	var b bytes.Buffer
	for _, m := range want {
		if err := Write(&b, m); err != nil {
			t.Fatal(err)
		}
	}
	whole := b.String()
	for name, text := range map[string]string{"whole": whole, "torn": whole + `{"at":"20`} {
		got, err := Read(strings.NewReader(text), int64(len(text)))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if _, err := Read(strings.NewReader(whole), int64(len(whole))-1); err == nil || !strings.HasPrefix(err.Error(), "it has more than ") {
		t.Errorf("too much: %v", err)
	}
	if _, err := Read(strings.NewReader(whole+"{\n"), 1<<20); err == nil || !strings.HasPrefix(err.Error(), "line 4: ") {
		t.Errorf("no JSON: %v", err)
	}
}
