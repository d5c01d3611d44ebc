package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/compare/jsondiff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestDifferencesOfTimesAreExplained(t *testing.T) {
	const (
		seconds = "1772366400" // the value of start
		millis  = "1772366400000"
	)
	plain := &Rules{}
	times := &Rules{Volatile: []jsondiff.Volatile{{At: "$", Kind: jsondiff.Time}}}
	past := &Rules{Volatile: []jsondiff.Volatile{{At: "$", Kind: jsondiff.Time, Ahead: 100 * time.Millisecond}}}
	for _, tc := range []struct {
		name, ref, cand string
		rules           *Rules
		want            string // "": they do not differ
	}{
		{"near", `"2026-03-01T12:00:01Z"`, `"2026-03-01T11:59:00Z"`, plain, ""},
		{"long before", `"2026-03-01T12:00:00Z"`, `"2026-03-01T10:00:00.4Z"`, plain, "the times differ: the candidate's is 2h0m0s before it was seen"},
		{"long after", `"2026-03-01T13:30:00Z"`, `"2026-03-01T12:00:00Z"`, plain, "the times differ: the reference's is 1h30m0s after it was seen"},
		{"long ago", `"2001-02-03T04:05:06Z"`, `"2026-03-11T12:00:00Z"`, plain, "the times differ: the reference's is 9157 days before it was seen, the candidate's is 10 days after it was seen"},
		{"in another unit", seconds, millis, plain, "the times are written differently: the candidate sends milliseconds, the reference seconds"},
		{"in another unit, as text", `"` + millis + `"`, `"` + seconds + `"`, plain, "the times are written differently: the candidate sends seconds, the reference milliseconds"},
		{"in another notation", `"2026-03-01T12:00:00Z"`, `"Sun, 01 Mar 2026 12:00:00 GMT"`, plain, "the times are written differently: the candidate sends an HTTP date, the reference an RFC 3339 time"},
		{"without a zone", `"2026-03-01T12:00:00.123Z"`, `"2026-03-01T12:00:00.123456"`, plain, "the times are written differently: the candidate sends a time without a time zone, the reference an RFC 3339 time"},
		{"with a blank", `"2026-03-01T12:00:00"`, `"2026-03-01 12:00:00"`, plain, "the times are written differently: the candidate sends a time with a space and without a time zone, the reference a time without a time zone"},
		{"a zone without a colon", `"2026-03-01T12:00:00+00:00"`, `"2026-03-01T12:00:00+0000"`, plain, "the times are written differently: the candidate sends a time whose zone has no colon, the reference an RFC 3339 time"},
		{"a part of a second as a decimal", millis, "1772366400.25", plain, "the times are written differently: the candidate sends seconds with a decimal point, the reference milliseconds"},
		{"both without a zone", `"2026-03-01T12:00:00"`, `"2026-03-01T12:00:01.5"`, plain, ""},
		{"both with a blank, of one zone", `"2026-03-01 14:00:00"`, `"2026-03-01 14:00:01"`, plain, ""},
		{"both with a blank, by a rule", `"2026-03-01 14:00:00"`, `"2026-03-01 14:00:01"`, times, ""},
		{"of another zone than the reference's", `"2026-03-01 12:00:00"`, `"2026-03-01 14:00:00"`, plain, "the times differ: the candidate's is 2h0m0s after it was seen"},
		{"of another zone, by a rule", `"2026-03-01 12:00:00"`, `"2026-03-01 14:00:00"`, times, "a time is too far from the moment it was seen: the candidate's is 2h0m0s after it was seen"},
		{"of no zone at all", `"2026-02-01 12:00:00"`, `"2026-03-01 12:00:00"`, plain, "the times differ: the reference's is 28 days before it was seen"},
		{"both decimals", "1772366400.25", "1772366401.5", plain, ""},
		{"numbers, long before", seconds, "1772359200", plain, "the times differ: the candidate's is 2h0m0s before it was seen"},
		{"other numbers", "17", "18", plain, "the numbers differ"},
		{"by a rule, long before", seconds, "1772359200", times, "a time is too far from the moment it was seen: the candidate's is 2h0m0s before it was seen"},
		{"ahead, by a rule that says nothing of it", seconds, "1772366402", times, ""},
		{"ahead", seconds, "1772366402", past, "a time is too far ahead of the moment it was seen: the candidate's by 2s"},
		{"ahead on both sides", "1772366403", "1772366402", past, "a time is too far ahead of the moment it was seen: the reference's by 3s, the candidate's by 2s"},
		{"ahead by as much as a rule allows", seconds, seconds, past, ""},
		{"by a rule, in another unit", seconds, millis, times, "the times are written differently: the candidate sends milliseconds, the reference seconds"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			for _, d := range compared(newSide("ref").answers(tc.ref), newSide("cand").answers(tc.cand), tc.rules).Differences {
				got += d.Text()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
		})
	}
}

func TestATimeInAnotherNotationIsReportedTheSameInEachRun(t *testing.T) {
	for _, again := range []string{`"2026-03-01T12:00:03.654321"`, `"2026-03-01T11:59:58"`} {
		var prints []string
		for _, cand := range []string{`"2026-03-01T12:00:00.123456"`, again} {
			got := compared(newSide("ref").answers(`"2026-03-01T12:00:00.123Z"`), newSide("cand").answers(cand), &Rules{}).Differences
			if len(got) != 1 {
				t.Fatalf("%s: %d differences, want 1", cand, len(got))
			}
			prints = append(prints, got[0].Fingerprint)
		}
		if prints[0] != prints[1] {
			t.Errorf("%s has another fingerprint: %s", again, prints)
		}
	}
	if a, b := Fingerprint(&Rules{}, newSide("cand").t, `"2026-03-01T12:00:00.5" is no date`), Fingerprint(&Rules{}, newSide("cand").t, `"2026-03-01T12:00:07.25" is no date`); a != b {
		t.Errorf("fingerprints %s and %s of what is said of two times", a, b)
	}
}

func TestADifferenceOfTimesInAHeaderFieldIsExplained(t *testing.T) {
	expires := func(value string) transcript.Header { return transcript.Header{{Name: "Expires", Value: value}} }
	ref := newSide("ref").exchange(200, expires("Sun, 01 Mar 2026 12:00:00 GMT"), "")
	cand := newSide("cand").exchange(200, expires("Sun, 01 Mar 2026 10:00:00 GMT"), "")
	got := compared(ref, cand, &Rules{Headers: []string{"Expires"}}).Differences
	if len(got) != 1 || got[0].Kind != diff.HeaderValue || got[0].Text() != "the times differ: the candidate's is 2h0m0s before it was seen" {
		t.Errorf("differences %+v", got)
	}
}
