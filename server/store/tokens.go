package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/domain/session"
)

// Tokens returns the token counts of a session, or [session.ErrNotFound].
func (s *Store) Tokens(ctx context.Context, id string) (t modelconfig.Tokens, err error) {
	err = s.read.use(ctx, func(ctx context.Context, from *reader) error {
		t, err = tokens(from.count.QueryRowContext(ctx, id), id)
		return err
	})
	return t, err
}

const selectTokens = `
SELECT total_tokens, input_tokens, output_tokens, accumulated_total_tokens, accumulated_input_tokens, accumulated_output_tokens
FROM sessions WHERE id = ?`

// tokens reads the token counts of a session.
func tokens(row *sql.Row, id string) (t modelconfig.Tokens, err error) {
	err = row.Scan(
		&t.Total, &t.Input, &t.Output, &t.AccumulatedTotal, &t.AccumulatedInput, &t.AccumulatedOutput)
	if errors.Is(err, sql.ErrNoRows) {
		return t, session.ErrNotFound
	}
	if err != nil {
		return t, fmt.Errorf("read tokens of session %q: %w", id, err)
	}
	return t, nil
}

// SetLastUsage replaces the counts of the last call, without changing the accumulated ones (GA 7.10).
func (s *Store) SetLastUsage(ctx context.Context, id string, total, input, output *int64) error {
	_, err := s.Update(ctx, id, Change{"total_tokens", total}, Change{"input_tokens", input}, Change{"output_tokens", output})
	return err
}

// NameOnce names a session unless its user has named it (GA 18.6).
func (s *Store) NameOnce(ctx context.Context, id, name string) error {
	return s.write.change(ctx, func(tx *sql.Tx) error {
		const set = `UPDATE sessions SET name = ?, updated_at = ? WHERE id = ? AND NOT COALESCE(user_set_name, FALSE)`
		if _, err := tx.ExecContext(ctx, set, name, stamp(time.Now()), id); err != nil {
			return fmt.Errorf("name session %q: %w", id, err)
		}
		return nil
	})
}
