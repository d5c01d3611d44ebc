package spec

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestJSONRPCNamesDependOnTheRequestsOfTheOtherSide(t *testing.T) {
	name := (&EventStream{jsonRPC: true}).Namer()
	for i, tc := range []struct {
		sent bool
		item transcript.Item
		data string
		want string
	}{
		{true, transcript.ItemLine, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "tools/list"},
		{false, transcript.ItemLine, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, "roots/list"},
		{false, transcript.ItemLine, `{"jsonrpc":"2.0","method":"progress"}`, "progress"},
		{false, transcript.ItemLine, `{"jsonrpc":"2.0","id":1,"result":null}`, "tools/list result"},
		{true, transcript.ItemLine, `{"jsonrpc":"2.0","id":1,"result":{}}`, "roots/list result"},
		{false, transcript.ItemLine, `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, "tools/list error"}, // a second response
		{false, transcript.ItemLine, `{"jsonrpc":"2.0","id":"1","result":{}}`, "result"},                // a string is no number
		{false, transcript.ItemLine, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`, "error"},
		{true, transcript.ItemLine, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, "tools/call"},
		{false, transcript.ItemLine, `{"jsonrpc":"2.0","id":1,"error":null,"result":{}}`, "tools/call result"},
		{false, transcript.ItemLine, `{"jsonrpc":"2.0","id":1,"error":null}`, "tools/call error"},
		{true, transcript.ItemText, `[{"id":"a","method":"one"},{"id":"b","method":"two"},[],1]`, "batch"},
		{false, transcript.ItemText, `{"id":"b","result":1}`, "two result"},
		{false, transcript.ItemBinary, `{"id":"b"}`, "binary"},
		{false, transcript.ItemLine, `{"method":5}`, "line"},
		{false, transcript.ItemLine, `{"id":1,"result":`, "line"},
		{false, transcript.ItemStderr, `{"method":"x"}`, "stderr"},
		{false, transcript.ItemText, `"method"`, "text"},
	} {
		if got := name(&transcript.Event{Item: tc.item, Sent: tc.sent, Data: tc.data}); got != tc.want {
			t.Errorf("%d: %s is named %q, want %q", i, tc.data, got, tc.want)
		}
	}
}

func TestWithoutXMessagesAMessageIsNamedByItsItem(t *testing.T) {
	name := Empty().EventNamer("GET /ws")
	for _, item := range append([]transcript.Item{transcript.ItemText, transcript.ItemBinary, transcript.ItemLine}, controlItems...) {
		if got := name(&transcript.Event{Item: item, Data: `{"type":"x"}`}); got != string(item) {
			t.Errorf("%s is named %q", item, got)
		}
	}
}

func TestANamerForgetsNoRequestUntilItsMemoryIsFull(t *testing.T) {
	n := namer{set: &EventStream{jsonRPC: true}}
	method := strings.Repeat("m", 1<<20)
	kept := 0
	for i := range 20 {
		n.name(&transcript.Event{Item: transcript.ItemLine, Sent: true, Data: fmt.Sprintf(`{"id":%d,"method":%q}`, i, method)})
		if n.name(&transcript.Event{Item: transcript.ItemLine, Data: fmt.Sprintf(`{"id":%d,"result":1}`, i)}) == method+" result" {
			kept++
		}
	}
	if held := len(n.methods[0]) + len(n.methods[1]); kept != 15 || held != kept {
		t.Errorf("%d of 20 requests of 1 MiB are known to their responses, and %d are held; want 15", kept, held)
	}
}

func TestANamerIsSafeForBothSidesAtOnce(t *testing.T) {
	name := (&EventStream{jsonRPC: true}).Namer()
	var wg sync.WaitGroup
	for _, sent := range []bool{true, false} {
		wg.Go(func() {
			for i := range 200 {
				name(&transcript.Event{Item: transcript.ItemText, Sent: sent, Data: fmt.Sprintf(`{"id":%d,"method":"m"}`, i)})
			}
		})
	}
	wg.Wait()
	for _, sent := range []bool{true, false} {
		if got := name(&transcript.Event{Item: transcript.ItemText, Sent: sent, Data: `{"id":199,"result":1}`}); got != "m result" {
			t.Errorf("the response is named %q", got)
		}
	}
}
