package clienttools

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheLongestPatternDecides(t *testing.T) {
	rules := Permissions{{"*", Deny}, {"client_a_*", Ask}, {"client_*_x", Allow}, {"client_b*b*", Ask}, {"client_żżżżż*", Allow}, {"client_*żżżżż", Ask}}
	for id, want := range map[string]Permission{
		"client_a_y": Ask, "client_a_x": Ask, "client_c_x": Allow, "client_x": Deny, "other": Deny, "client_b": Deny, "client_bb": Ask, "client_bxbx": Ask,
		"client_żżżżż": Ask,
	} {
		if got := rules.of(id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if got := (Permissions{{"x", Deny}}).of("y"); got != Allow {
		t.Errorf("no rule matches: %s, want allow", got)
	}
}

func TestFewWindowsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := windows{limit: RateLimit{Calls: 1, Window: time.Minute}}
		for n := range maxWindows + 5 {
			w.take(fmt.Sprint(n))
		}
		if got := len(w.open); got != maxWindows {
			t.Errorf("%d windows are kept, want %d", got, maxWindows)
		}
		time.Sleep(time.Minute)
		w.take("x")
		if got := len(w.open); got != 1 {
			t.Errorf("%d windows are kept after their end, want 1", got)
		}
		if got := cap(w.order); got > 1 {
			t.Errorf("there is room for %d windows after the end of all, want 1", got)
		}
	})
}
