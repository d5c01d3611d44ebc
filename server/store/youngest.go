package store

import (
	"context"
	"fmt"
)

// Youngest returns the ids of the sessions of users and schedules, the one that was made last first.
func (s *Store) Youngest(ctx context.Context) ([]string, error) {
	rows, err := s.read.QueryContext(ctx, `
SELECT id FROM sessions WHERE session_type IN ('user', 'scheduled') ORDER BY CAST(created_at AS TEXT) DESC, rowid DESC`)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
