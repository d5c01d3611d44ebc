package store_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

func TestRecent(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var made []string
	for _, kind := range []session.Type{session.User, session.Scheduled, session.SubAgent, session.Hidden, session.Terminal, session.User} {
		n, err := s.Create(t.Context(), store.New{WorkingDir: "/", Type: kind})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, n.ID)
	}
	if _, err := s.Update(t.Context(), made[0], store.SetName("changed last", true)...); err != nil {
		t.Fatal(err)
	}
	got, err := s.Recent(t.Context())
	if diff := cmp.Diff([]string{made[5], made[1], made[0]}, got); diff != "" || err != nil {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
}
