package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Load returns a session with its conversation. The error is [session.ErrNotFound] if there is no such session, and
// another error if a message cannot be read (GA 9.3).
func (s *Store) Load(ctx context.Context, id string) (found session.Session, err error) {
	err = s.read.together(ctx, func(ctx context.Context, from *reader) error {
		if found, err = one(from.session.QueryRowContext(ctx, id), id); err != nil {
			return err
		}
		rows, err := from.messages.QueryContext(ctx, id)
		if err == nil {
			found.Conversation, err = conversation(rows, id)
		}
		return err
	})
	return found, err
}

// load is Load in a transaction.
func load(ctx context.Context, tx *sql.Tx, id string) (found session.Session, err error) {
	if found, err = one(tx.QueryRowContext(ctx, selectSession, id), id); err != nil {
		return found, err
	}
	rows, err := tx.QueryContext(ctx, selectMessages, id)
	if err == nil {
		found.Conversation, err = conversation(rows, id)
	}
	return found, err
}

// WriteJSON writes the JSON of a session with its conversation. Its errors are those of Load. After an error, what
// was written is incomplete.
func (s *Store) WriteJSON(ctx context.Context, w *jsonwire.Writer, id string) error {
	return s.read.together(ctx, func(ctx context.Context, from *reader) error {
		found, err := one(from.session.QueryRowContext(ctx, id), id)
		if err != nil {
			return err
		}
		rows, err := from.messages.QueryContext(ctx, id)
		if err != nil {
			return err
		}
		conversation, err := storedConversation(rows, id, found.MessageCount)
		if err == nil {
			w.Value(found.APIWith(&conversation))
		}
		return err
	})
}

const selectMessages = `SELECT id, role, content_json, created_timestamp, metadata_json FROM messages WHERE session_id = ? ORDER BY timestamp, id`

// A row is a stored message.
type row struct {
	id       int64
	role     string
	content  any
	created  int64
	metadata sql.NullString
}

func (r *row) scan(rows *sql.Rows) error {
	var created any // any, because Scan would convert a number to text first
	if err := rows.Scan(&r.id, &r.role, &r.content, &created, &r.metadata); err != nil {
		return err
	}
	if role := message.Role(r.role); role != message.User && role != message.Assistant {
		return fmt.Errorf("unknown role %q", r.role)
	}
	var ok bool
	if r.created, ok = created.(int64); !ok {
		return fmt.Errorf("no moment: %v", created)
	}
	return nil
}

// text returns the content, or "" if it is not a text.
func (r *row) text() string {
	switch content := r.content.(type) {
	case string:
		return content
	case []byte:
		return string(content)
	}
	return ""
}

// each calls do for each message of a session, in order, and closes the rows. The messages get their IDs here
// (GA 9.1).
func each(rows *sql.Rows, id string, do func(r *row, messageID string) error) error {
	defer rows.Close()
	prefix := "msg_" + id + "_"
	var r row
	for n := 0; rows.Next(); n++ {
		err := r.scan(rows)
		if err == nil {
			err = do(&r, prefix+strconv.Itoa(n))
		}
		if err != nil {
			return fmt.Errorf("read session %q: message %d: %w", id, n, err)
		}
	}
	return rows.Err()
}

func conversation(rows *sql.Rows, id string) ([]message.Message, error) {
	read, err := readConversation(rows, id)
	return read.Messages, err
}

func readConversation(rows *sql.Rows, id string) (session.Conversation, error) {
	read := session.Conversation{Messages: []message.Message{}}
	err := each(rows, id, func(r *row, messageID string) error {
		content, err := decode.Text([]byte(r.text()), message.DecodeContents)
		read.Messages = append(read.Messages, message.Message{
			ID: messageID, Role: message.Role(r.role), Created: r.created, Content: content, Metadata: message.ReadMetadata(r.metadata.String),
		})
		read.Rows = append(read.Rows, r.id)
		return err
	})
	if err != nil {
		return session.Conversation{}, err
	}
	return read, nil
}

// storedConversation reads a conversation of about the given length. It copies the stored content of a message if that
// has the form of a response.
func storedConversation(rows *sql.Rows, id string, length int64) (api.Conversation, error) {
	conversation := make(api.Conversation, 0, min(length, 1000))
	err := each(rows, id, func(r *row, messageID string) error {
		content, err := message.Stored(r.text())
		conversation = append(conversation, api.Message{
			ID: &messageID, Role: message.Role(r.role), Created: r.created, Content: content,
			Metadata: api.MessageMetadata(message.ReadMetadata(r.metadata.String)),
		})
		return err
	})
	return conversation, err
}

// AddMessages adds messages to the end of a conversation, all or none. The error is [session.ErrNotFound] if there is
// no such session.
func (s *Store) AddMessages(ctx context.Context, id string, messages ...message.Message) error {
	return s.write.change(ctx, func(tx *sql.Tx) error {
		if found, err := update(ctx, tx, id, nil); err != nil || !found {
			return cmp.Or(err, session.ErrNotFound)
		}
		if err := add(ctx, tx, id, messages); err != nil {
			return fmt.Errorf("add messages to session %q: %w", id, err)
		}
		return nil
	})
}

// add adds messages to the end of a conversation.
func add(ctx context.Context, tx *sql.Tx, id string, messages []message.Message) error {
	now, err := nextMoment(ctx, tx, id)
	if err != nil {
		return err
	}
	statement, err := tx.PrepareContext(ctx, `INSERT INTO messages (session_id, role, content_json, created_timestamp, timestamp, metadata_json) VALUES (?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer statement.Close()
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

// nextMoment returns the time for messages that are added now. It is never before that of the last message, even if
// the clock was set back, because messages are sorted by it.
func nextMoment(ctx context.Context, tx *sql.Tx, id string) (string, error) {
	const last = `SELECT COALESCE((SELECT CAST(timestamp AS TEXT) FROM messages WHERE session_id = ? ORDER BY id DESC LIMIT 1), '')`
	var moment string
	err := tx.QueryRowContext(ctx, last, id).Scan(&moment)
	return max(moment, stamp(time.Now())), err
}

// Truncate deletes the messages that were created at or after the given second. It does not count as a change of the
// session. A missing session is not an error.
func (s *Store) Truncate(ctx context.Context, id string, from int64) error {
	return s.write.change(ctx, func(tx *sql.Tx) error { return truncate(ctx, tx, id, from) })
}

func truncate(ctx context.Context, tx *sql.Tx, id string, from int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM messages WHERE session_id = ? AND created_timestamp >= ?`, id, from); err != nil {
		return fmt.Errorf("truncate session %q: %w", id, err)
	}
	return nil
}

// Import creates a session from an exported one (GA 9.6). Its ID and times are new, and it has no provider or model.
func (s *Store) Import(ctx context.Context, exported session.Session) (session.Session, error) {
	var imported session.Session
	err := s.write.change(ctx, func(tx *sql.Tx) error {
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
	s.Made(imported.ID)
	return imported, nil
}

// Fork copies a session with the messages that were created before the given second, and returns the ID of the copy
// (GA 9.10). The copy has no token counts, provider or model.
func (s *Store) Fork(ctx context.Context, id string, from int64) (fork string, err error) {
	err = s.write.change(ctx, func(tx *sql.Tx) error {
		original, err := load(ctx, tx, id)
		if err == nil {
			fork, err = copyOf(ctx, tx, original, "(edited)")
		}
		if err == nil {
			err = truncate(ctx, tx, fork, from)
		}
		return err
	})
	if err == nil {
		s.Made(fork)
	}
	return fork, err
}

// copyOf creates a copy of a session.
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
