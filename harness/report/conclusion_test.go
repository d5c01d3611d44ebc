package report

import (
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// What a target does not have is not counted. A share of success is not rounded up.
func TestATargetIsSummedUpByWhatItDid(t *testing.T) {
	for _, tc := range []struct {
		target verdict.Target
		want   string
	}{
		{verdict.Target{Exchanges: 1000, Success: 999}, "1000 exchanges (99% 2xx), 0 events"},
		{verdict.Target{Exchanges: 3, Success: 3}, "3 exchanges (100% 2xx), 0 events"},
		{verdict.Target{Exchanges: 3}, "3 exchanges (0% 2xx), 0 events"},
		{verdict.Target{}, "0 exchanges, 0 events"},
		{verdict.Target{Tally: transcript.Tally{Lines: 3}}, "3 lines"},
		{verdict.Target{Exchanges: 1, Tally: transcript.Tally{Messages: 1}}, "1 exchange (0% 2xx), 1 message"},
		{verdict.Target{Exchanges: 9430, Success: 9430, Tally: transcript.Tally{Events: 2, Messages: 120, Lines: 44}}, "9430 exchanges (100% 2xx), 2 events, 120 messages, 44 lines"},
		{verdict.Target{Calls: 3, Done: 2, Upstream: 1}, "3 calls (66% ok), 1 upstream request"},
	} {
		if got := TargetSummary(tc.target); got != tc.want {
			t.Errorf("TargetSummary(%+v): %q, want %q", tc.target, got, tc.want)
		}
	}
}

func TestWhatWasComparedIsCountedByItsKind(t *testing.T) {
	for _, tc := range []struct {
		compared verdict.Compared
		want     string
	}{
		{verdict.Compared{}, "0 exchanges, 0 events"},
		{verdict.Compared{Exchanges: 1}, "1 exchange, 0 events"},
		{verdict.Compared{Tally: transcript.Tally{Lines: 2}}, "2 lines"},
		{verdict.Compared{Exchanges: 9430, Tally: transcript.Tally{Messages: 120, Lines: 44}}, "9430 exchanges, 120 messages, 44 lines"},
	} {
		if got := Compared(&tc.compared); got != tc.want {
			t.Errorf("Compared(%+v): %q, want %q", tc.compared, got, tc.want)
		}
	}
}
