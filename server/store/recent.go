package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Recent returns the IDs of the sessions of users and schedules, the newest first.
func (s *Store) Recent(ctx context.Context) (ids []string, err error) {
	err = s.read.rows(ctx, `
SELECT id FROM sessions WHERE session_type IN ('user', 'scheduled') ORDER BY CAST(created_at AS TEXT) DESC, rowid DESC`, func(row *sql.Rows) error {
		var id string
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return ids, nil
}
