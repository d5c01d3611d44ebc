package compare

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
)

func TestFutureTimesAreEquallyFarAhead(t *testing.T) {
	const day = 24 * time.Hour
	within := func(near time.Duration) *Rules {
		return &Rules{Volatile: []jsondiff.Volatile{{At: "$.at", Kind: jsondiff.Time, Near: near}}}
	}
	for _, tc := range []struct {
		name      string
		rules     *Rules
		ref, cand time.Duration // distances from the moment they were seen
		want      []string
	}{
		{"lately", nil, 0, -50 * time.Minute,
			[]string{"the times differ: the reference's is from this scenario, but the candidate's is 50m0s before it was seen"}},
		{"lately, by a rule", within(0), 0, -50 * time.Minute,
			[]string{"a time is too far from the moment it was seen: the reference's is from this scenario, but the candidate's is 50m0s before it was seen"}},
		{"lately, within a rule", within(time.Hour), 0, -50 * time.Minute, nil},
		{"some minutes ago", nil, 0, -4 * time.Minute, nil},
		{"before the scenario", nil, -20 * time.Minute, -50 * time.Minute, nil},
		{"before the scenario, and within it", nil, -50 * time.Minute, 0, nil},
		{"by clocks that are not set alike", nil, 0, 4 * time.Minute, nil},
		{"a month ahead", nil, 30 * day, 30*day + 2*time.Second, nil},
		{"a month ahead, by a rule", within(0), 30 * day, 30*day + 2*time.Second, nil},
		{"minutes ahead", nil, 15 * time.Minute, 55 * time.Minute,
			[]string{"the times differ: the reference's is 15m0s after it was seen, the candidate's is 55m0s after it was seen, which are 40m0s apart"}},
		{"minutes ahead, by a rule", within(time.Hour), 15 * time.Minute, 55 * time.Minute, nil},
		{"lately, and ahead", nil, 0, 50 * time.Minute,
			[]string{"the times differ: the reference's is 0s after it was seen, the candidate's is 50m0s after it was seen, which are 50m0s apart"}},
		{"days ahead, not as many", nil, 30 * day, 31 * day,
			[]string{"the times differ: the reference's is 30 days after it was seen, the candidate's is 31 days after it was seen"}},
		{"days ahead, and some hours", nil, 30 * day, 30*day + 2*time.Hour,
			[]string{"the times differ: the reference's is 30 days after it was seen, the candidate's is 30 days after it was seen, which are 2h0m0s apart"}},
		{"days ago", nil, -30 * day, -30*day - 2*time.Second,
			[]string{"the times differ: the reference's is 30 days before it was seen, the candidate's is 30 days before it was seen, which are 2s apart"}},
		{"a month ahead, beyond a rule", within(day), 30 * day, 30*day + 2*time.Second,
			[]string{"a time is too far from the moment it was seen: the reference's is 30 days after it was seen, the candidate's is 30 days after it was seen"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			told := func(d time.Duration) string { return fmt.Sprintf(`{"at":%q}`, start.Add(d).Format(time.RFC3339)) }
			var got []string
			for _, d := range compared(newSide("ref").answers(told(tc.ref)), newSide("cand").answers(told(tc.cand)), tc.rules).Differences {
				got = append(got, d.Text())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
		})
	}
}

// A time in whole seconds may be before the start of the scenario, because the scenario started later in that second.
func TestWholeSecondsOfTheFirstSecondAreOfTheScenario(t *testing.T) {
	for _, tc := range []struct {
		name    string
		ref     time.Duration // distance from the whole second
		minutes int
		want    []string
	}{
		{"50 minutes old", 0, 50, []string{"the times differ: the reference's is from this scenario, but the candidate's is 50m0s before it was seen"}},
		{"some minutes old", 0, 4, nil},
		{"before the scenario", -time.Second, 50, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			told := func(target string, at time.Time) side {
				s := newSide(target)
				s.t.Started = start.Add(700 * time.Millisecond)
				return s.answers(fmt.Sprintf(`{"at":%d}`, at.Unix()))
			}
			var got []string
			for _, d := range compared(told("ref", start.Add(tc.ref)), told("cand", start.Add(-time.Duration(tc.minutes)*time.Minute)), nil).Differences {
				got = append(got, d.Text())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
		})
	}
}

func TestANilIDBelongsToNoObject(t *testing.T) {
	const zeros = "00000000-0000-0000-0000-000000000000"
	id := &Rules{Volatile: []jsondiff.Volatile{{At: "$[0]", Kind: jsondiff.ID}}}
	for _, tc := range []struct {
		name      string
		rules     *Rules
		ref, cand string
		want      []string
	}{
		{"the candidate's", nil, uuidA, zeros, []string{"id-form body /0"}},
		{"the reference's", nil, zeros, uuidX, []string{"id-form body /0"}},
		{"both", nil, zeros, zeros, nil},
		{"neither", nil, uuidA, uuidX, nil},
		{"a ULID", nil, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "00000000000000000000000000", []string{"id-form body /0"}},
		{"by a rule", id, "4f0a9c11d2b3", "000000000000", []string{"id-form body /0"}},
		{"by a rule, both", id, "000000000000", "000000000000", nil},
		{"the first of a counter, by a rule", id, "1000", "0000", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ref, cand := newSide("ref").answers(`["`+tc.ref+`"]`), newSide("cand").answers(`["`+tc.cand+`"]`)
			if diff := cmp.Diff(tc.want, kinds(compared(ref, cand, tc.rules))); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}
