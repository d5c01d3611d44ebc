package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
