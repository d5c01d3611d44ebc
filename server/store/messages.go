package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/session"
)

// Load returns a session with its conversation. The error is [ErrNotFound] if there is none, and another one if a message
// cannot be read (GA 9.3).
func (s *Store) Load(ctx context.Context, id string) (session.Session, error) {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // the row and its messages are of the same moment
	if err != nil {
		return session.Session{}, err
	}
	defer tx.Rollback()
	return load(ctx, tx, id)
}

func load(ctx context.Context, tx *sql.Tx, id string) (session.Session, error) {
	found, err := scan(tx.QueryRowContext(ctx, columns+` WHERE s.id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return found, ErrNotFound
	}
	if err == nil {
		found.Conversation, err = conversation(ctx, tx, id)
	}
	if err != nil {
		return session.Session{}, fmt.Errorf("read session %q: %w", id, err)
	}
	return found, nil
}

// conversation returns the messages of a session in their order. Their ids are made up here (GA 9.1).
func conversation(ctx context.Context, tx *sql.Tx, id string) ([]message.Message, error) {
	rows, err := tx.QueryContext(ctx, `SELECT role, content_json, created_timestamp, metadata_json FROM messages WHERE session_id = ? ORDER BY timestamp, id`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	messages := []message.Message{}
	for rows.Next() {
		m, err := scanMessage(rows)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", len(messages), err)
		}
		m.ID = "msg_" + id + "_" + strconv.Itoa(len(messages))
		messages = append(messages, m)
	}
	return messages, rows.Err()
}

func scanMessage(rows *sql.Rows) (message.Message, error) {
	var (
		m        message.Message
		content  []byte
		metadata sql.NullString
	)
	if err := rows.Scan(&m.Role, &content, &m.Created, &metadata); err != nil {
		return m, err
	}
	if m.Role != message.User && m.Role != message.Assistant {
		return m, fmt.Errorf("unknown role %q", m.Role)
	}
	v, err := decode.Parse(content)
	if err != nil {
		return m, err
	}
	if m.Content, err = message.DecodeContents(v); err != nil {
		return m, err
	}
	m.Metadata = message.Visible
	if stored := lenient(metadata, message.DecodeMetadata); stored != nil {
		m.Metadata = *stored
	}
	return m, nil
}

// AddMessages adds messages to the end of a conversation, all or none. The error is [ErrNotFound] if there is no such
// session.
func (s *Store) AddMessages(ctx context.Context, id string, messages ...message.Message) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		if found, err := update(ctx, tx, id, nil); err != nil || !found {
			return cmp.Or(err, ErrNotFound)
		}
		if err := add(ctx, tx, id, messages); err != nil {
			return fmt.Errorf("add messages to session %q: %w", id, err)
		}
		return nil
	})
}

func add(ctx context.Context, tx *sql.Tx, id string, messages []message.Message) error {
	statement, err := tx.PrepareContext(ctx, `INSERT INTO messages (session_id, role, content_json, created_timestamp, timestamp, metadata_json) VALUES (?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer statement.Close()
	now := stamp(time.Now())
	for _, m := range messages {
		content, metadata := jsonwire.NewWriter(nil), jsonwire.NewWriter(nil)
		message.WriteContents(content, m.Content)
		m.Metadata.Write(metadata)
		if _, err := statement.ExecContext(ctx, id, string(m.Role), string(content.Text()), m.Created, now, string(metadata.Text())); err != nil {
			return err
		}
	}
	return nil
}

// ReplaceMessages replaces the conversation of a session. It does not count as a change of the session (GA 9.1). The error
// is [ErrNotFound] if there is no such session.
func (s *Store) ReplaceMessages(ctx context.Context, id string, messages []message.Message) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		if _, err := tokens(ctx, tx, id); err != nil { // which every session has
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM messages WHERE session_id = ?`, id)
		if err == nil {
			err = add(ctx, tx, id, messages)
		}
		if err != nil {
			return fmt.Errorf("replace messages of session %q: %w", id, err)
		}
		return nil
	})
}

// Truncate deletes the messages that were created at a second or later. It does not count as a change of the session, and
// is no error if there is none.
func (s *Store) Truncate(ctx context.Context, id string, from int64) error {
	return s.change(ctx, func(tx *sql.Tx) error { return truncate(ctx, tx, id, from) })
}

func truncate(ctx context.Context, tx *sql.Tx, id string, from int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM messages WHERE session_id = ? AND created_timestamp >= ?`, id, from); err != nil {
		return fmt.Errorf("truncate session %q: %w", id, err)
	}
	return nil
}

// Import makes a session of an exported one (GA 9.6). Its id and times are new; it has neither provider nor model.
func (s *Store) Import(ctx context.Context, exported session.Session) (session.Session, error) {
	var imported session.Session
	err := s.change(ctx, func(tx *sql.Tx) error {
		id, err := copyOf(ctx, tx, exported, exported.Name, SetTokens(exported.Tokens)...)
		if err == nil && exported.UserSetName {
			_, err = update(ctx, tx, id, SetName(exported.Name, true))
		}
		if err == nil {
			imported, err = load(ctx, tx, id)
		}
		return err
	})
	if err != nil {
		return session.Session{}, fmt.Errorf("import session: %w", err)
	}
	return imported, nil
}

// Fork copies a session up to the messages that were created at a second or later, and returns the id of the copy
// (GA 9.10). It counts no tokens, and has neither provider nor model.
func (s *Store) Fork(ctx context.Context, id string, from int64) (fork string, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		original, err := load(ctx, tx, id)
		if err == nil {
			fork, err = copyOf(ctx, tx, original, "(edited)")
		}
		if err == nil {
			err = truncate(ctx, tx, fork, from)
		}
		return err
	})
	return fork, err
}

// copyOf makes a session that is like another one.
func copyOf(ctx context.Context, tx *sql.Tx, original session.Session, name string, more ...Change) (id string, err error) {
	id, err = create(ctx, tx, New{WorkingDir: original.WorkingDir, Name: name, Type: original.Type, Recipe: original.Recipe})
	if err != nil {
		return "", err
	}
	changes := append([]Change{
		SetExtensionData(original.ExtensionData),
		SetSchedule(original.ScheduleID),
		SetUserRecipeValues(original.UserRecipeValues),
	}, more...)
	if _, err := update(ctx, tx, id, changes); err != nil {
		return "", err
	}
	return id, add(ctx, tx, id, original.Conversation)
}
