package report

import (
	"testing"

	"github.com/lockstep-dev/lockstep/harness/verdict"
)

func TestTheShareOfSuccessIsNotRoundedUp(t *testing.T) {
	for _, tc := range []struct {
		target verdict.Target
		want   string
	}{
		{verdict.Target{Exchanges: 1000, Success: 999}, " (99% 2xx)"},
		{verdict.Target{Exchanges: 3, Success: 3}, " (100% 2xx)"},
		{verdict.Target{Exchanges: 3}, " (0% 2xx)"},
		{verdict.Target{}, ""},
	} {
		if got := success(tc.target); got != tc.want {
			t.Errorf("success(%+v): %q, want %q", tc.target, got, tc.want)
		}
	}
}
