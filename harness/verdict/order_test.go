package verdict

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// An event with a wrong id is listed after the response that had the id first. If the event came before that request,
// it is listed first.
func TestAWrongIDIsReportedWhereItFirstAppears(t *testing.T) {
	const a, b = "1f8714af-32e7-4a49-8475-398e3c0d5f25", "57dbdb27-05a9-485a-b1fc-bed0473ca92f"
	const x, y = "242a8109-20c7-40b2-b8c7-4b929a0fdf30", "e5c1bb0c-7d1f-4a0e-9d5b-0f6e4b8f1a11"
	const event, answer = "event 1 (n) data /m", "body /m"
	for _, tc := range []struct {
		name string
		came time.Duration
		want []string
	}{
		{"after", 2500 * time.Millisecond, []string{answer, event}},
		{"before", 1500 * time.Millisecond, []string{event, answer}},
	} {
		story := func(target, first, second, of string) side {
			s := newSide(target).stream(`n {"m":"`+of+`"}`).answers(200, `{"m":["`+first+`","`+second+`"]}`, 200, `{"m":"`+of+`"}`)
			for i := range s.Steps {
				at := time.Duration(i) * time.Second
				s.Steps[i].At, s.Steps[i].Exchanges[0].Sent, s.Steps[i].Exchanges[0].Done = at, at, at
			}
			s.Streams[0].Events[0].At = tc.came
			return s
		}
		var got []string
		for _, f := range judged(t, story("ref", a, b, a), story("cand", x, y, y)).Findings {
			if f.Kind == "identity" {
				got = append(got, f.Place)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
