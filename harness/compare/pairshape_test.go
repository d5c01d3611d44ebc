package compare

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
)

func TestShapesThatTwoValuesShowTogether(t *testing.T) {
	for _, tc := range []struct {
		name             string
		ref, cand, other string // other is a different id of the candidate
		ids              bool
	}{
		{"a cuid", "cjld2cjxh0000qzrmn831i7rn", "cm3x9k2lq0001abcd8ef2ghij", "cm3x9k2lq0002abcd8ef2ghij", true},
		{"a cuid of another century", "c0000cjxh0000qzrmn831i7rn", "cm3x9k2lq0001abcd8ef2ghij", "", false},
		{"a cuid2", "tz4a98xxat96iws9zmbrgj3a", "pfh0haxfpzowht3oi213cqos", "pfh0haxfpzowht3oi213cqot", true},
		{"a sum of 24 digits", "a0b1c2d3e4f5a6b7c8d9e0f1", "b0b1c2d3e4f5a6b7c8d9e0f1", "", false},
		{"an xid", "9m4e2mr0ui3e8a215n4g", "cv37rs3p0uhs73dm5dg0", "cv37rs3p0uhs73dm5dh0", false}, // its time is in 1975
		{"two xids", "cv37rs3p0uhs73dm5dg0", "d0a1b2c3d4e5f6g7h8i0", "d0a1b2c3d4e5f6g7h8ig", true},
		{"a short id", "run-1a2b3c4d", "run-9f8e7d6c", "run-9f8e7d6d", true},
		{"a short id of digits", "run-1a2b3c4d", "run-98765432", "run-98765431", true},
		{"a short id in a longer text", "see /runs/run-1a2b3c4d.", "see /runs/run-9f8e7d6c.", "see /runs/run-9f8e7d6d.", true},
		{"two days", "release-20261122", "release-20261123", "", false},
		{"a day and an id", "release-20261122", "release-9f8e7d6c", "", false},
		{"two numbers", "order-10000001", "order-10000002", "", false},
		{"two words", "is-deadbeef", "is-feedface", "", false},
		{"a sum in the name of a file", "main-1a2b3c4d.js", "main-9f8e7d6c.js", "", false},
		{"another prefix", "run-1a2b3c4d", "job-9f8e7d6c", "", false},
		{"no prefix", "1a2b3c4d", "9f8e7d6c", "", false},
		{"capitals", "run-1A2B3C4D", "run-9f8e7d6c", "", false},
		{"a cuid and an xid", "cjld2cjxh0000qzrmn831i7rn", "cv37rs3p0uhs73dm5dg0", "", false},
	} {
		story := func(target, first, again string) side {
			return newSide(target).answers(fmt.Sprintf(`{"of":%q}`, first), fmt.Sprintf(`{"of":%q}`, again))
		}
		want := []string{"value body /of", "value body /of"}
		if tc.ids {
			want = nil
		}
		if diff := cmp.Diff(want, kinds(compared(story("ref", tc.ref, tc.ref), story("cand", tc.cand, tc.cand), nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if !tc.ids {
			continue
		}
		for _, again := range []string{tc.other, tc.ref} { // a different id, and the reference's own
			if got := compared(story("ref", tc.ref, tc.ref), story("cand", tc.cand, again), nil); len(got.Differences) != 1 {
				t.Errorf("%s, then %s: %v, want one difference", tc.name, again, kinds(got))
			}
		}
	}
}

func TestMicrosecondsAndNanosecondsOfTheRun(t *testing.T) {
	us, ns := start.UnixMicro(), start.UnixNano()
	hour := int64(3600) * 1e9
	for _, tc := range []struct {
		name      string
		ref, cand int64
		want      string
	}{
		{"microseconds", us, us + 5e6, ""},
		{"nanoseconds", ns, ns + 5e9, ""},
		{"two hours late", ns, ns + 2*hour, "the times differ: the candidate's is 2h0m0s after it was seen"},
		{"a day early", us, us - 24*hour/1000, "the times differ: the candidate's is 24h0m0s before it was seen"},
		{"50 minutes old", ns, ns - 50*hour/60, "the times differ: the reference's is from this scenario, but the candidate's is 50m0s before it was seen"},
		{"of each", us, ns, "the times are written differently: the candidate sends nanoseconds, the reference microseconds"},
		{"digits that are no time", 7265000000000000, 7265000000000001, "the numbers differ"},
	} {
		for _, form := range []string{`{"at":%d}`, `{"at":"%d"}`, `[{"name":"lamp","at":%d},{"name":"rug"}]`} {
			got := compared(newSide("ref").answers(fmt.Sprintf(form, tc.ref)), newSide("cand").answers(fmt.Sprintf(form, tc.cand)), nil)
			switch {
			case tc.want == "" && len(got.Differences) > 0:
				t.Errorf("%s as %s: %v", tc.name, form, saidOf(got))
			case tc.want != "" && (len(got.Differences) != 1 || got.Differences[0].Text() != tc.want && got.Differences[0].Text() != string(diff.TextsDiffer)):
				t.Errorf("%s as %s: %v, want %s", tc.name, form, saidOf(got), tc.want)
			}
		}
	}
}
