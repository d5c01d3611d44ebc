package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestTimesSayInWhatTheyDiffer(t *testing.T) {
	const (
		seconds = "1772366400" // what start is
		millis  = "1772366400000"
	)
	plain := &Rules{}
	times := &Rules{Volatile: []Volatile{{At: "$", Kind: Time}}}
	for _, tc := range []struct {
		name, ref, cand string
		rules           *Rules
		want            string // "" when they do not differ
	}{
		{"near", `"2026-03-01T12:00:01Z"`, `"2026-03-01T11:59:00Z"`, plain, ""},
		{"long before", `"2026-03-01T12:00:00Z"`, `"2026-03-01T10:00:00.4Z"`, plain, "the times differ: the candidate's is 2h0m0s before it was seen"},
		{"long after", `"2026-03-01T13:30:00Z"`, `"2026-03-01T12:00:00Z"`, plain, "the times differ: the reference's is 1h30m0s after it was seen"},
		{"long ago", `"2001-02-03T04:05:06Z"`, `"2026-03-11T12:00:00Z"`, plain, "the times differ: the reference's is 9157 days before it was seen, the candidate's is 10 days after it was seen"},
		{"in another unit", seconds, millis, plain, "the times are written differently: milliseconds, where the reference has seconds"},
		{"in another unit, as text", `"` + millis + `"`, `"` + seconds + `"`, plain, "the times are written differently: seconds, where the reference has milliseconds"},
		{"in another notation", `"2026-03-01T12:00:00Z"`, `"Sun, 01 Mar 2026 12:00:00 GMT"`, plain, "the times are written differently: a date of HTTP, where the reference has a time of RFC 3339"},
		{"numbers, long before", seconds, "1772359200", plain, "the times differ: the candidate's is 2h0m0s before it was seen"},
		{"other numbers", "17", "18", plain, "the numbers differ"},
		{"by a rule, long before", seconds, "1772359200", times, "a time is not near the moment it was seen: the candidate's is 2h0m0s before it was seen"},
		{"by a rule, in another unit", seconds, millis, times, "the times are written differently: milliseconds, where the reference has seconds"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			for _, d := range compared(newSide("ref").answers(tc.ref), newSide("cand").answers(tc.cand), tc.rules).Differences {
				got += d.Text
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
		})
	}
}

func TestATimeInAHeaderFieldSaysInWhatItDiffers(t *testing.T) {
	expires := func(value string) transcript.Header { return transcript.Header{{Name: "Expires", Value: value}} }
	ref := newSide("ref").exchange(200, expires("Sun, 01 Mar 2026 12:00:00 GMT"), "")
	cand := newSide("cand").exchange(200, expires("Sun, 01 Mar 2026 10:00:00 GMT"), "")
	got := compared(ref, cand, &Rules{Headers: []string{"Expires"}}).Differences
	if len(got) != 1 || got[0].Kind != HeaderValue || got[0].Text != "the times differ: the candidate's is 2h0m0s before it was seen" {
		t.Errorf("differences %+v", got)
	}
}
