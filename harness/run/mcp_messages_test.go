package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestMessagesAreComparedWithoutWhatLibrariesChoose(t *testing.T) {
	for name, tc := range map[string]struct{ body, want string }{
		"a notification":       {`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n", `{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}`},
		"a request":            {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":1.0}}`, `{"jsonrpc":"2.0","id":0,"method":"ping","params":{"a":1.0}}`},
		"counters":             {`{"jsonrpc":"2.0","id":"x","method":"m","params":{"requestId":2,"_meta":{"progressToken":"p"}}}`, `{"jsonrpc":"2.0","id":0,"method":"m","params":{"requestId":0,"_meta":{"progressToken":0}}}`},
		"parameters of null":   {`{"jsonrpc":"2.0","method":"ping","params":null}`, `{"jsonrpc":"2.0","method":"ping","params":null}`},
		"a response":           {`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":0,"result":{}}`},
		"a null ID":            {`{"jsonrpc":"2.0","id":null,"result":{}}`, `{"jsonrpc":"2.0","id":null,"result":{}}`},
		"an ID twice":          {`{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`, `{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`},
		"no JSON":              {`{"jsonrpc":"2.0"`, `{"jsonrpc":"2.0"`},
		"JSON, but no message": {`{"id":1,"method":"ping"}`, `{"id":1,"method":"ping"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := comparableMessage(transcript.Body{Bytes: []byte(tc.body), Size: int64(len(tc.body))})
			if diff := cmp.Diff(tc.want, string(got.Bytes)); diff != "" || got.Size != int64(len(tc.want)) {
				t.Errorf("size %d (-want +got):\n%s", got.Size, diff)
			}
		})
	}
}
