package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"
)

// TestAPanicLeavesNoTransaction: a panic must not leave a transaction open, because readers would then see old data,
// and writers would wait for it.
func TestAPanicLeavesNoTransaction(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "s.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	panics := func(do func()) {
		defer func() { _ = recover() }()
		do()
	}
	for range maxReaders + 1 {
		panics(func() {
			_ = s.read.together(t.Context(), func(ctx context.Context, from *reader) error {
				_, _ = one(from.session.QueryRowContext(ctx, "x"), "x")
				panic("broken")
			})
		})
	}
	panics(func() { _ = s.write.change(t.Context(), func(*sql.Tx) error { panic("broken") }) })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	made, err := s.Create(ctx, New{WorkingDir: "/w", Name: "n", Type: "user"})
	if err != nil {
		t.Fatal(err)
	}
	for range maxReaders + 1 {
		if _, err := s.Load(ctx, made.ID); err != nil {
			t.Errorf("behind a panic: %v", err)
		}
	}
}
