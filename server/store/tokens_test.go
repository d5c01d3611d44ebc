package store_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

func TestTokensAlone(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	id := create(t, s, "").ID
	n := func(n int64) *int64 { return &n }
	if err := s.AddUsage(t.Context(), id, n(10), n(7), n(3)); err != nil {
		t.Fatal(err)
	}
	if err := s.SetLastUsage(t.Context(), id, n(3), n(3), nil); err != nil {
		t.Fatal(err)
	}
	want := modelconfig.Tokens{Total: n(3), Input: n(3), AccumulatedTotal: n(10), AccumulatedInput: n(7), AccumulatedOutput: n(3)}
	if diff := cmp.Diff(want, must[modelconfig.Tokens](t)(s.Tokens(t.Context(), id))); diff != "" {
		t.Errorf("Tokens (-want +got):\n%s", diff)
	}
}

func TestAUsersNameStays(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	id := create(t, s, "first").ID
	name := func() string { return must[session.Session](t)(s.Session(t.Context(), id)).Name }
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return s.NameOnce(t.Context(), id, "made up") }, "made up"},
		{func() error { _, err := s.Update(t.Context(), id, store.SetName("given", true)...); return err }, "given"},
		{func() error { return s.NameOnce(t.Context(), id, "made up again") }, "given"},
		{func() error { return s.NameOnce(t.Context(), "x", "nobody") }, "given"},
	} {
		if err := step.do(); err != nil || name() != step.want {
			t.Errorf("the name is %q, %v; want %q", name(), err, step.want)
		}
	}
}
