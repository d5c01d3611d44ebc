package verdict

import "testing"

func TestRuleSkeleton(t *testing.T) {
	for _, tc := range []struct{ kind, place, ref, cand, want string }{
		{"value", "body /items/0/id", `"a-1"`, `"b-2"`, `- {at: "$.items[*].id", kind: id, because: ""}`},
		{"value", "body /created at", `"2026-11-20T09:30:00Z"`, `"2026-11-20T09:30:01Z"`, `- {at: "$['created at']", kind: time, near: 1m, because: ""}`},
		{"value", "stream feed event 2 data /n", "1.5", "2", `- {at: "$.n", kind: number, tolerance: "", because: ""}`},
		{"value", "body /message", `"not found 1"`, `"not found 2"`, ""}, // a sentence
		{"value", "body /state", `"open"`, `"closed"`, ""},               // a word
		{"value", "body /id", `"a-1"`, "7", ""},
		{"type", "body /id", "7", "8", ""},
		{"value", "body ⟨base64⟩ /id", "7", "8", ""},
		{"status", "status", "200", "201", ""},
	} {
		f := &Finding{Class: Difference, Kind: tc.kind, Place: tc.place, Reference: tc.ref, Candidate: tc.cand}
		if got := RuleSkeleton(f); got != tc.want {
			t.Errorf("%s %s: %q, want %q", tc.kind, tc.place, got, tc.want)
		}
	}
}
