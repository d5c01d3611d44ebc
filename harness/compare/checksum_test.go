package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestTheChecksumOfABodyWithIDsIsBound(t *testing.T) {
	const (
		withID  = `{"id":"` + uuidA + `","name":"lamp"}`
		theirs  = `{"id":"` + uuidX + `","name":"lamp"}`
		noID    = `{"name":"lamp"}`
		one     = `"0a1b2c3d4e5f"`
		another = `"ffeeddccbbaa"`
		third   = `"112233445566"`
	)
	rules := &Rules{Headers: []string{"ETag"}}
	type answer struct{ body, tag string }
	story := func(target string, answers ...answer) side {
		s := newSide(target)
		for _, a := range answers {
			s = s.exchange(200, transcript.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "ETag", Value: a.tag}}, a.body)
		}
		return s
	}
	const differs = "header-value header ETag"
	for _, tc := range []struct {
		name      string
		ref, cand []answer
		want      []string
	}{
		{"bodies with ids", []answer{{withID, one}}, []answer{{theirs, another}}, nil},
		{"equal bodies", []answer{{noID, one}}, []answer{{noID, another}}, []string{differs}},
		{"bodies in another order", []answer{{withID, one}}, []answer{{`{"name":"lamp","id":"` + uuidA + `"}`, another}}, []string{differs}},
		{"bodies that differ", []answer{{withID, one}}, []answer{{strings.Replace(theirs, "lamp", "rug", 1), another}}, []string{differs, "value body /name"}},
		{"a weak one", []answer{{withID, one}}, []answer{{theirs, `W/` + another[:11]}}, []string{differs}},
		{"without quotes", []answer{{withID, one}}, []answer{{theirs, "ffeeddccbbaaaa"}}, []string{differs}},
		{"of another length", []answer{{withID, one}}, []answer{{theirs, another + "x"}}, []string{differs}},
		{"twice the same", []answer{{withID, one}, {withID, one}}, []answer{{theirs, another}, {theirs, another}}, nil},
		{"another one for the same", []answer{{withID, one}, {withID, one}}, []answer{{theirs, another}, {theirs, third}}, []string{"identity header ETag"}},
		{"the same for another", []answer{{withID, one}, {withID[:len(withID)-1] + `,"n":1}`, third}}, []answer{{theirs, another}, {theirs[:len(theirs)-1] + `,"n":1}`, another}}, []string{"identity header ETag"}},
	} {
		got := kinds(compared(story("ref", tc.ref...), story("cand", tc.cand...), rules))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestBoundariesOfSeveralPartsAreBound(t *testing.T) {
	const ref, cand = "----formdata-a1B2c3", "0f9e8d7c6b5a49382716"
	parts := func(boundary, text string) string {
		return "--" + boundary + "\r\nContent-Type: text/plain\r\n\r\n" + text + "\r\n--" + boundary + "--\r\n"
	}
	story := func(target, named, body string) side {
		return newSide(target).exchange(200, transcript.Header{{Name: "Content-Type", Value: "multipart/mixed; boundary=" + named}}, body)
	}
	for _, tc := range []struct {
		name string
		cand side
		want []string
	}{
		{"its own", story("cand", cand, parts(cand, "lamp")), nil},
		{"another text", story("cand", cand, parts(cand, "rug")), []string{"body body"}},
		{"another one in the body", story("cand", cand, parts("0f9e8d7c6b5a49382717", "lamp")), []string{"body body"}},
		{"the reference's in the body", story("cand", cand, parts(ref, "lamp")), []string{"body body"}},
	} {
		got := kinds(compared(story("ref", ref, parts(ref, "lamp")), tc.cand, &Rules{Headers: []string{"Content-Type"}}))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
