package message

import (
	"github.com/lockstep-dev/lockstep/gen/api"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// rewritten decodes a content and encodes it again.
func rewritten(stored string) (string, error) {
	v, err := decode.Parse([]byte(stored))
	if err != nil {
		return "", err
	}
	contents, err := DecodeContents(v)
	if err != nil {
		return "", err
	}
	w := jsonwire.NewWriter(nil)
	WriteContents(w, contents)
	return string(w.Text()), nil
}

// quickScans has contents that the quick scan recognises as written, and similar ones that it does not.
var quickScans = map[string]bool{
	`[]`:                          true,
	`[{"type":"text","text":""}]`: true,
	`[{"type":"text","text":"a\n\"\\\t\b\f\r/é` + "\u2028" + `"},{"type":"text","text":"b"}]`:                                                 true,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n"}}}]`:                                                  true,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"error","error":"e"}}]`:                                                             true,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":{}}}}]`:                                   true,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":{"a":[1,-0.50,1e5,2E-7,{}],"b":null}}}}]`: true,
	`[{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[]}}]`:                                                         true,
	`[{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"text","text":"t"}]}}]`:                               true,
	`[{"type":"toolResponse","id":"c","toolResult":{"status":"error","error":"-32603: x"}}]`:                                                  true,

	``: false, `[`: false, `[]]`: false, `[] `: false, ` []`: false, `{}`: false, `null`: false, `[,]`: false, `[{}]`: false,
	`[{"type":"text","text":"a"},]`:                   false,
	`[{"type":"text","text":"a"}`:                     false,
	`[{"type":"text","text":"a" }]`:                   false,
	`[{"text":"a","type":"text"}]`:                    false,
	`[{"type":"text","text":"a","extra":1}]`:          false,
	`[{"type":"text","text":"a","annotations":null}]`: false,
	`[{"type":"text","text":null}]`:                   false,
	`[{"type":"text","text":"\/"}]`:                   false,
	`[{"type":"text","text":"\u0061"}]`:               false,
	`[{"type":"text","text":"\u0000"}]`:               false,
	`[{"type":"text","text":"\ud800"}]`:               false,
	`[{"type":"text","text":"\x"}]`:                   false,
	`[{"type":"text","text":"\`:                       false,
	"[{\"type\":\"text\",\"text\":\"\x01\"}]":         false,
	"[{\"type\":\"text\",\"text\":\"\xff\"}]":         false,
	"[{\"type\":\"text\",\"text\":\"\xed\xa0\x80\"}]": false,
	`[{"type":"conversationCompacted","msg":"x"}]`:    false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":[]}}}]`:                                                              false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":null}}}]`:                                                            false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":{"a":1,"a":2}}}}]`:                                                   false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":{"a": 1}}}}]`:                                                        false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":{"a":01}}}}]`:                                                        false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":{"a":1.}}}}]`:                                                        false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":{"a":.5}}}}]`:                                                        false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":{"a":1e}}}}]`:                                                        false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":{"a":-}}}}]`:                                                         false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":{"a":tru}}}}]`:                                                       false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n"}},"thoughtSignature":"s"}]`:                                                      false,
	`[{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"text","text":"t","_meta":{}}]}}]`:                                               false,
	`[{"type":"image","data":"d","mimeType":"m"}]`:                                                                                                                       false,
	`[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"n","arguments":{"a":` + strings.Repeat("[", 30) + strings.Repeat("]", 30) + `}}}}]`: false,
}

func TestQuickScanOfContent(t *testing.T) {
	for stored, want := range quickScans {
		if got := isWritten(stored); got != want {
			t.Errorf("%s: %t, want %t", stored, got, want)
		}
		sameAsRewritten(t, stored)
	}
}

// sameAsRewritten checks that Stored returns the same as decoding and encoding.
func sameAsRewritten(t *testing.T, stored string) {
	t.Helper()
	want, wantErr := rewritten(stored)
	text, err := Stored(stored)
	if got := string(text); got != want || (err == nil) != (wantErr == nil) {
		t.Errorf("%q is written as %q, %v; want %q, %v", stored, got, err, want, wantErr)
	}
}

func FuzzStored(f *testing.F) {
	for stored := range quickScans {
		f.Add(stored)
	}
	f.Fuzz(sameAsRewritten)
}

func TestMessagesOfTheContractAreWrittenAsTheirFieldsSay(t *testing.T) {
	type plain api.Message // its fields are found by reflection
	id := "msg_\"1\"_\xed\xa0\x80"
	for _, m := range []api.Message{
		{ID: &id, Role: User, Created: -3, Content: []byte(`[{"type":"text","text":"\ud800"}]`), Metadata: api.MessageMetadata(Visible)},
		{Role: "other", Content: []byte("null")},
		{Role: Assistant, Content: []byte("[]"), Metadata: api.MessageMetadata{AgentVisible: true}},
	} {
		if got, want := jsonwire.Marshal(m), jsonwire.Marshal(plain(m)); string(got) != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestStoredMetadata(t *testing.T) {
	for stored, want := range map[string]Metadata{
		"": Visible, "null": Visible, "{": Visible, "{}": Visible, `{"userVisible":1,"agentVisible":true}`: Visible,
		`{"userVisible":true,"agentVisible":true}`:      Visible,
		`{"userVisible":true,"agentVisible":false}`:     {UserVisible: true},
		`{"userVisible":false,"agentVisible":true}`:     {AgentVisible: true},
		`{"userVisible":false,"agentVisible":false}`:    {},
		`{ "agentVisible": false, "userVisible": true}`: {UserVisible: true},
	} {
		if got := ReadMetadata(stored); got != want {
			t.Errorf("%s: %+v, want %+v", stored, got, want)
		}
	}
}
