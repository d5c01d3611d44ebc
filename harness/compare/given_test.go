package compare

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestTheDirectoryOfATarget(t *testing.T) {
	const ref, cand = "/home/me/lockstep-1", "/var/x/lockstep-98765"
	for _, tc := range []struct {
		name      string
		ref, cand string
		want      []string
	}{
		{"its path", ref + "/a.txt", cand + "/a.txt", nil},
		{"twice", ref + ":" + ref + "/b", cand + ":" + cand + "/b", nil},
		{"in a URL", "file:?a=%2Fhome%2Fme%2Flockstep-1%2Fx", "file:?a=%2Fvar%2Fx%2Flockstep-98765%2Fx", nil},
		{"its name alone", "-lockstep-1", "-lockstep-98765", nil},
		{"another file", ref + "/a.txt", cand + "/b.txt", []string{"value body /x"}},
		{"the path, and the name alone", ref, "lockstep-98765", []string{"value body /x"}},
		{"the path, and another", ref, "/var/x/lockstep-98766", []string{"value body /x"}},
		{"the path, and the token", ref, "ucand0000002", []string{"value body /x"}},
		{"the other's", ref, ref, []string{"value body /x"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, c := newSide("ref").answers(`{"x":"`+tc.ref+`"}`), newSide("cand").answers(`{"x":"`+tc.cand+`"}`)
			r.t.Directory, c.t.Directory = ref, cand
			if diff := cmp.Diff(tc.want, kinds(compared(r, c, nil))); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLockstepsOwnProgram(t *testing.T) {
	r, c := newSide("ref").answers(`{"x":"/usr/bin/lockstep stub","y":"/tmp/b001/lockstep"}`), newSide("cand").answers(`{"x":"/home/me/bin/lockstep stub","y":"/home/me/bin/lockstep"}`)
	r.t.Lockstep, c.t.Lockstep = "/usr/bin/lockstep", "/home/me/bin/lockstep"
	if diff := cmp.Diff([]string{"value body /y"}, kinds(compared(r, c, nil))); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

// What a client sends on a stream is bound first. Values that the targets have made before are theirs all the same, so
// that a target that always makes the same one is found.
func TestCapturedValuesThatAreSentBackAreThoseOfTheTargets(t *testing.T) {
	const ref, cand, own = "0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	made := func(target, id string) *transcript.Transcript {
		said := func(sent bool, data string) transcript.Event {
			return transcript.Event{Item: transcript.ItemLine, Name: "line", Data: data, Sent: sent}
		}
		return &transcript.Transcript{Target: target, Steps: []transcript.Step{{ID: "1", Kind: "open", Stream: "p"}}, Streams: []*transcript.Stream{{
			Name: "p", Step: "1", Wire: transcript.WireProgram, Ended: transcript.EndedByClient, Events: []transcript.Event{
				said(true, `{"own":"`+own+`"}`), said(false, `{"made":"`+id+`"}`), said(true, `{"read":"`+id+`"}`), said(false, `{"id":"`+id+`","own":"`+own+`"}`),
			},
		}}}
	}
	r := Transcripts(nil, made("ref", ref), made("cand", cand), &Rules{})
	if len(r.Differences) > 0 {
		t.Errorf("differences: %v", r.Differences)
	}
	var got []string
	for _, a := range r.Assumed {
		got = append(got, fmt.Sprintf("%s %s at %s, sent %t", a.Reference, a.Candidate, a.Place, a.Sent))
	}
	want := []string{own + " " + own + " at sent 1 (line) data, sent true", ref + " " + cand + " at line 1 data /made, sent false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("assumed (-want +got):\n%s", diff)
	}
}
