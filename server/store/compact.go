package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Conversation returns the conversation of a session. Its errors are those of Load.
func (s *Store) Conversation(ctx context.Context, id string) (read session.Conversation, err error) {
	err = s.read.together(ctx, func(ctx context.Context, from *reader) error {
		if _, err := tokens(from.count.QueryRowContext(ctx, id), id); err != nil { // fails if the session does not exist
			return err
		}
		rows, err := from.messages.QueryContext(ctx, id)
		if err == nil {
			read, err = readConversation(rows, id)
		}
		return err
	})
	return read, err
}

// Compact changes the visibility of a conversation's messages and inserts messages after them, all or nothing. seen
// has one entry per message. The conversation was read earlier, and others may have changed the session since:
// messages that they added follow the inserted ones, and messages that they deleted stay deleted. Compact does not
// count as a change of the session (GA 9.1). The error is [session.ErrNotFound] if there is no such session.
func (s *Store) Compact(ctx context.Context, id string, read session.Conversation, seen []message.Metadata, added []message.Message) error {
	return s.write.change(ctx, func(tx *sql.Tx) error {
		if _, err := tokens(tx.QueryRowContext(ctx, selectTokens, id), id); err != nil { // fails if the session does not exist
			return err
		}
		err := show(ctx, tx, id, read, seen)
		if err == nil {
			err = insertBehind(ctx, tx, id, read.End(), added)
		}
		if err != nil {
			return fmt.Errorf("compact session %q: %w", id, err)
		}
		return nil
	})
}

// show writes the visibility of the messages for which it has changed.
func show(ctx context.Context, tx *sql.Tx, id string, read session.Conversation, seen []message.Metadata) error {
	statement, err := tx.PrepareContext(ctx, `UPDATE messages SET metadata_json = ? WHERE id = ? AND session_id = ?`)
	if err != nil {
		return err
	}
	defer statement.Close()
	for i, m := range read.Messages {
		if seen[i] == m.Metadata {
			continue
		}
		metadata := jsonwire.NewWriter(nil)
		seen[i].Write(metadata)
		if _, err := statement.ExecContext(ctx, string(metadata.Text()), read.Rows[i], id); err != nil {
			return err
		}
	}
	return nil
}

// insertBehind inserts messages after the one with the given number. Later messages are written again, with higher
// numbers and a later time than the inserted ones.
func insertBehind(ctx context.Context, tx *sql.Tx, id string, end int64, added []message.Message) error {
	var last int64
	if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM messages WHERE session_id = ?`, id).Scan(&last); err != nil {
		return err
	}
	if err := add(ctx, tx, id, added); err != nil {
		return err
	}
	now, err := nextMoment(ctx, tx, id)
	if err != nil {
		return err
	}
	const again = `
INSERT INTO messages (session_id, role, content_json, created_timestamp, timestamp, tokens, metadata_json)
SELECT session_id, role, content_json, created_timestamp, ?, tokens, metadata_json FROM messages
WHERE session_id = ? AND id > ? AND id <= ? ORDER BY timestamp, id`
	if _, err := tx.ExecContext(ctx, again, now, id, end, last); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM messages WHERE session_id = ? AND id > ? AND id <= ?`, id, end, last)
	return err
}
