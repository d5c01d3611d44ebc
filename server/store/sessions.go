package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// New has the fields of a session to create. The store generates its ID and times.
type New struct {
	WorkingDir, Name string
	Type             session.Type
	Recipe           *recipe.Recipe  // with its templates; may be nil
	ExtensionData    json.RawMessage // an object; nil means an empty one
}

// insert computes the next number of the day in the same statement that uses it, so that no two sessions get the same
// number (GA 9.1).
const insert = `
INSERT INTO sessions (id, name, session_type, working_dir, created_at, updated_at, recipe_json, extension_data)
SELECT ?1 || '_' || (COALESCE(MAX(CAST(substr(id, 10) AS INTEGER)), 0) + 1), ?2, ?3, ?4, ?5, ?5, ?6, ?7
FROM sessions WHERE id >= ?1 || '_' AND id < ?1 || '` + "`" + `'
RETURNING id`

// Create creates a session and returns it.
func (s *Store) Create(ctx context.Context, n New) (session.Session, error) {
	var id string
	err := s.write.change(ctx, func(tx *sql.Tx) (err error) {
		id, err = create(ctx, tx, n)
		return err
	})
	if err != nil {
		return session.Session{}, fmt.Errorf("create session: %w", err)
	}
	s.Made(id)
	return s.Session(ctx, id)
}

const selectSession = columns + ` WHERE s.id = ?`

func create(ctx context.Context, tx *sql.Tx, n New) (id string, err error) {
	now, data := time.Now(), "{}"
	if n.ExtensionData != nil {
		data = string(n.ExtensionData)
	}
	err = tx.QueryRowContext(ctx, insert, now.UTC().Format("20060102"), n.Name, string(n.Type), n.WorkingDir, stamp(now), SetRecipe(n.Recipe).value, data).Scan(&id)
	return id, err
}

// columns are the columns that scan reads. Times are cast to text, because the driver would guess their type.
const columns = `
SELECT s.id, s.working_dir, CASE WHEN s.name <> '' THEN s.name ELSE s.description END, COALESCE(s.user_set_name, 0), s.session_type,
  CAST(s.created_at AS TEXT), CAST(s.updated_at AS TEXT), s.extension_data,
  s.total_tokens, s.input_tokens, s.output_tokens,
  s.accumulated_total_tokens, s.accumulated_input_tokens, s.accumulated_output_tokens,
  s.schedule_id, s.recipe_json, s.user_recipe_values_json, s.provider_name, s.model_config_json,
  (SELECT COUNT(*) FROM messages m WHERE m.session_id = s.id)
FROM sessions s`

// Session returns a session without its conversation, or [session.ErrNotFound].
func (s *Store) Session(ctx context.Context, id string) (found session.Session, err error) {
	err = s.read.use(ctx, func(ctx context.Context, from *reader) error {
		found, err = one(from.session.QueryRowContext(ctx, id), id)
		return err
	})
	return found, err
}

// one reads the row of a session.
func one(row *sql.Row, id string) (session.Session, error) {
	found, err := scan(row)
	if errors.Is(err, sql.ErrNoRows) {
		return found, session.ErrNotFound
	}
	if err != nil {
		return found, fmt.Errorf("read session %q: %w", id, err)
	}
	return found, nil
}

// List returns the sessions of users and schedules that have messages, the most recently changed first. Of those that
// changed in the same second, the newer one comes first (GA 9.2, decision G15).
func (s *Store) List(ctx context.Context) ([]session.Session, error) {
	sessions := []session.Session{}
	err := s.read.rows(ctx, columns+`
WHERE s.session_type IN ('user', 'scheduled') AND EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)
ORDER BY s.updated_at DESC, s.rowid DESC`, func(row *sql.Rows) error {
		found, err := scan(row)
		sessions = append(sessions, found)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return sessions, nil
}

// scan reads one row. A field that cannot be read counts as absent (GA 17.1).
func scan(row interface{ Scan(...any) error }) (session.Session, error) {
	var (
		s                               session.Session
		kind                            string
		created, updated                sql.NullString
		extensions, rec, values, config sql.NullString
	)
	err := row.Scan(&s.ID, &s.WorkingDir, &s.Name, &s.UserSetName, &kind, &created, &updated, &extensions,
		&s.Tokens.Total, &s.Tokens.Input, &s.Tokens.Output,
		&s.Tokens.AccumulatedTotal, &s.Tokens.AccumulatedInput, &s.Tokens.AccumulatedOutput,
		&s.ScheduleID, &rec, &values, &s.ProviderName, &config, &s.MessageCount)
	if err != nil {
		return s, err
	}
	s.Type = typeOf(kind)
	s.CreatedAt, s.UpdatedAt = moment(created.String), moment(updated.String)
	s.ExtensionData = json.RawMessage("{}")
	if data, ok := parse(extensions); ok {
		if object, err := decode.AnyObject(data); err == nil {
			s.ExtensionData = object
		}
	}
	s.Recipe = lenient(rec, recipe.Decode)
	s.ModelConfig = lenient(config, modelconfig.Decode)
	if values := lenient(values, decode.Pairs); values != nil {
		s.UserRecipeValues = *values
	}
	return s, nil
}

// typeOf returns the type of a session. An unknown type counts as a user's.
func typeOf(kind string) session.Type {
	switch t := session.Type(kind); t {
	case session.Scheduled, session.SubAgent, session.Hidden, session.Terminal:
		return t
	}
	return session.User
}

// Delete deletes a session and its messages. The error is [session.ErrNotFound] if there is no such session.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.write.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM messages WHERE session_id = ?`, id); err != nil {
			return fmt.Errorf("delete session %q: %w", id, err)
		}
		result, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = ?`, id)
		if err != nil {
			return fmt.Errorf("delete session %q: %w", id, err)
		}
		if n, err := result.RowsAffected(); err == nil && n == 0 {
			return session.ErrNotFound
		}
		return nil
	})
}

// Insights returns the number of sessions of all types, and the number of tokens that they have used (GA 9.7).
func (s *Store) Insights(ctx context.Context) (sessions, tokens int64, err error) {
	const sums = `SELECT COUNT(*), COALESCE(SUM(COALESCE(accumulated_total_tokens, total_tokens, 0)), 0) FROM sessions`
	err = s.read.use(ctx, func(ctx context.Context, from *reader) error {
		return from.conn.QueryRowContext(ctx, sums).Scan(&sessions, &tokens)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count sessions: %w", err)
	}
	return sessions, tokens, nil
}

// A Change sets one column of a session.
type Change struct {
	column string
	value  any
}

// SetName sets the name. If the user chose it, automatic naming stops.
func SetName(name string, byUser bool) []Change {
	changes := []Change{{"name", name}}
	if byUser {
		changes = append(changes, Change{"user_set_name", 1})
	}
	return changes
}

// SetRecipe sets the recipe, with its templates.
func SetRecipe(r *recipe.Recipe) Change {
	if r == nil {
		return Change{"recipe_json", nil}
	}
	return Change{"recipe_json", string(jsonwire.Of(r))}
}

// SetUserRecipeValues sets the values for the recipe's parameters.
func SetUserRecipeValues(values jsonwire.Pairs) Change {
	if values == nil {
		return Change{"user_recipe_values_json", nil}
	}
	return Change{"user_recipe_values_json", string(jsonwire.Of(values))}
}

// SetModel sets the provider and the model.
func SetModel(provider string, config modelconfig.Config) []Change {
	return []Change{{"provider_name", provider}, {"model_config_json", string(jsonwire.Of(config))}}
}

// SetExtensionData sets the data of the extensions, a JSON object.
func SetExtensionData(data json.RawMessage) Change { return Change{"extension_data", string(data)} }

// SetSchedule sets the schedule that started the session.
func SetSchedule(id *string) Change { return Change{"schedule_id", id} }

// SetTokens sets all token counts.
func SetTokens(t modelconfig.Tokens) []Change {
	return []Change{
		{"total_tokens", t.Total}, {"input_tokens", t.Input}, {"output_tokens", t.Output},
		{"accumulated_total_tokens", t.AccumulatedTotal}, {"accumulated_input_tokens", t.AccumulatedInput},
		{"accumulated_output_tokens", t.AccumulatedOutput},
	}
}

// Update applies changes to a session. found is false if there is no such session.
func (s *Store) Update(ctx context.Context, id string, changes ...Change) (found bool, err error) {
	err = s.write.change(ctx, func(tx *sql.Tx) error {
		found, err = update(ctx, tx, id, changes)
		return err
	})
	return found, err
}

func update(ctx context.Context, tx *sql.Tx, id string, changes []Change) (bool, error) {
	set := []string{"updated_at = ?"}
	args := []any{stamp(time.Now())}
	for _, change := range changes {
		set = append(set, change.column+" = ?")
		args = append(args, change.value)
	}
	result, err := tx.ExecContext(ctx, `UPDATE sessions SET `+strings.Join(set, ", ")+` WHERE id = ?`, append(args, id)...)
	if err != nil {
		return false, fmt.Errorf("update session %q: %w", id, err)
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// AddUsage records the usage of one call of the model (GA 7.12). The counts replace those of the previous call, even
// with nil. They are also added to the accumulated counts, up to [modelconfig.MaxTokens].
func (s *Store) AddUsage(ctx context.Context, id string, total, input, output *int64) error {
	const add = `
UPDATE sessions SET updated_at = ?1, total_tokens = ?2, input_tokens = ?3, output_tokens = ?4,
  accumulated_total_tokens = CASE WHEN ?2 IS NULL THEN accumulated_total_tokens ELSE min(COALESCE(accumulated_total_tokens, 0) + ?2, ?6) END,
  accumulated_input_tokens = CASE WHEN ?3 IS NULL THEN accumulated_input_tokens ELSE min(COALESCE(accumulated_input_tokens, 0) + ?3, ?6) END,
  accumulated_output_tokens = CASE WHEN ?4 IS NULL THEN accumulated_output_tokens ELSE min(COALESCE(accumulated_output_tokens, 0) + ?4, ?6) END
WHERE id = ?5`
	return s.write.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, add, stamp(time.Now()), total, input, output, id, modelconfig.MaxTokens); err != nil {
			return fmt.Errorf("count tokens of session %q: %w", id, err)
		}
		return nil
	})
}

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
