package ident

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func shapeOf(t *testing.T, name, pattern string) IDShape {
	t.Helper()
	s, err := NewIDShape(name, pattern, "lockstep.yaml:9:7 "+name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestShapesOfAProject(t *testing.T) {
	shapes := []IDShape{
		shapeOf(t, "session", "sess[0-9]{8}"), shapeOf(t, "session", "S-[A-Z]{4}"), shapeOf(t, "job", "job/([a-z]{6})/v1"), shapeOf(t, "number", "9[0-9]{7}"),
		shapeOf(t, "pair", "p[0-9]{2}|p[0-9]{4}"),
	}
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"one", "sess12345678", []string{"session:sess12345678"}},
		{"one in a path", "/x/sess12345678?y", []string{"session:sess12345678"}},
		{"one between underscores", "client_sess12345678_add", []string{"session:sess12345678"}},
		{"one behind an escape", "x%3Asess12345678", []string{"session:sess12345678"}},
		{"a part of a word", "xsess12345678 sess123456789", nil},
		{"of two shapes of one name", "sess12345678 S-ABCD", []string{"session:sess12345678", "session:S-ABCD"}},
		{"a group", "job/abcdef/v1", []string{"job:abcdef"}},
		{"beside what is known", "utoken12345 sess12345678 0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a", []string{"unique:utoken12345", "session:sess12345678", "uuid:0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a"}},
		{"before what is known", "sess12345678/utoken12345", []string{"session:sess12345678", "unique:utoken12345"}},
		{"the longest of two", "p1234 p12", []string{"pair:p1234", "pair:p12"}},
		{"nothing", "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := New(&transcript.Transcript{Unique: "uref00000001"}, &transcript.Transcript{Unique: "ucand0000002"}, shapes...)
			b.Vocabulary.known[0].values = []KnownValue{{"utoken12345", tokUnique}}
			var got []string
			for _, tok := range b.Vocabulary.Scan(0, tc.text) {
				got = append(got, b.Vocabulary.Shapes.kindName(tok.Kind)+":"+tc.text[tok.Start:tok.End])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("scan(%q) (-want +got):\n%s", tc.text, diff)
			}
		})
	}
}
