//go:build unix

package main

import (
	"testing"

	"github.com/lockstep-dev/lockstep/internal/faux"
	"github.com/lockstep-dev/lockstep/internal/ratio"
)

// TestAMessageIsReadOnceForAllFindings checks that a message is read a few times, and not once for each
// finding about it. It measures allocations, which do not depend on how busy the machine is, so it must not run in
// parallel with other tests.
func TestAMessageIsReadOnceForAllFindings(t *testing.T) {
	const fields, room = 20_000, 20_000 // room is in bytes for each field
	many := faux.ManyFields(fields)
	for _, tc := range []struct {
		name         string
		right, wrong *faux.Fault
		scenario     string
	}{
		{"an answer of the candidate", nil, many, "items/story"},
		{"an answer of the reference", many, nil, "items/story"},
		{"an answer of both", many, many, "items/story"},
		{"an event of the candidate", nil, many, "events/story"},
		{"an event of both", many, many, "events/story"},
	} {
		p := newProject(t, at("right", faux.Serve(t, &faux.Server{Fault: tc.right})), at("wrong", faux.Serve(t, &faux.Server{Fault: tc.wrong})))
		var o outcome
		allocated := ratio.Allocated(func() { o = p.do(t, "run", tc.scenario) })
		if o.code != exitDiffer {
			t.Errorf("%s: %+v", tc.name, o)
		}
		if each := allocated / fields; each > room {
			t.Errorf("%s: %d bytes for each field, want at most %d", tc.name, each, room)
		}
	}
}
