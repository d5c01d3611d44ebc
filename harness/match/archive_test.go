package match

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestExpectationsAreCheckedInsideAnArchive(t *testing.T) {
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	to, _ := w.Create("session.json")
	fmt.Fprint(to, `{"id":"a"}`)
	to, _ = w.Create("system.txt")
	fmt.Fprint(to, "OS: linux\n")
	w.Close()
	expect := &transcript.Expect{JSON: &transcript.JSONPattern{
		At:      map[string]json.RawMessage{"$['session.json'].id": json.RawMessage(`"a"`), "$['session.json'].name": json.RawMessage(`"b"`)},
		Matches: map[string]string{"$['system.txt'][0]": "^OS: l", "$['system.txt'][1]": "x"},
		Absent:  []string{"$['secrets.yaml']", "$['session.json']"},
	}}
	for _, tc := range []struct {
		name string
		body []byte
		want []string
	}{
		{"an archive", file.Bytes(), []string{"body $['session.json'].name", "body $['system.txt'][1]", "body $['session.json']"}},
		{"none", []byte("PK"), []string{"body"}},
	} {
		x := &transcript.Exchange{Response: &transcript.Response{Status: 200, Header: transcript.Header{{Name: "Content-Type", Value: "application/zip"}}, Body: transcript.Body{Bytes: tc.body}}}
		var got []string
		for _, m := range Exchange(expect, x) {
			got = append(got, m.Place)
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
}
