package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// maxLegacy is the maximum size of a session file of an older version (GA 17.3).
const maxLegacy = 50 << 20

// takeOver imports the session files of older versions (GA 17.3). leftOut has the reason for each file that was not
// imported.
func takeOver(ctx context.Context, tx *sql.Tx, dir string) (leftOut []error, err error) {
	paths, err := filepath.Glob(filepath.Join(escaped(dir), "*.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		old, err := readLegacy(path)
		if err != nil {
			leftOut = append(leftOut, fmt.Errorf("%s: %w", path, err))
			continue
		}
		if err := insertLegacy(ctx, tx, old); err != nil {
			return leftOut, fmt.Errorf("%s: %w", path, err)
		}
	}
	return leftOut, nil
}

// escaped returns a glob pattern that matches only the given directory.
func escaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// readLegacy reads a file with a line of metadata, then one line per message. Lines that are not messages are
// ignored.
func readLegacy(path string) (session.Session, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return session.Session{}, err
	case !info.Mode().IsRegular():
		return session.Session{}, errors.New("no plain file")
	case info.Size() > maxLegacy:
		return session.Session{}, fmt.Errorf("more than %d bytes", int64(maxLegacy))
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return session.Session{}, err
	}
	id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	first, rest, _ := bytes.Cut(content, []byte("\n"))
	old, err := readMetadata(first, id, func() time.Time { return createdAt(path, id, info.ModTime()) })
	if err != nil {
		return old, err
	}
	old.ID, old.UpdatedAt = id, info.ModTime()
	for line := range bytes.Lines(rest) {
		if !utf8.Valid(line) {
			break
		}
		if m, err := readMessage(line); err == nil {
			old.Conversation = append(old.Conversation, m)
		}
	}
	return old, nil
}

var errNoMetadata = errors.New("invalid session metadata JSON")

// readMetadata reads the first line, in which only the name is required.
func readMetadata(line []byte, id string, created func() time.Time) (session.Session, error) {
	given, err := jsonwire.Parse(line)
	if err != nil || given.Kind() != "object" || !utf8.Valid(line) {
		return session.Session{}, errNoMetadata
	}
	there := map[string]jsonwire.Text{}
	for name, value := range given.Members() {
		there[name.Str()] = value
	}
	name, ok := there["name"]
	if !ok {
		if name, ok = there["description"]; !ok {
			return session.Session{}, errors.New("neither name nor description")
		}
	}
	if name.Kind() == "string" {
		there["name"] = jsonwire.AppendQuoted(nil, []byte(strings.Join(strings.Fields(name.Str()), " ")))
	}
	for _, other := range []string{"description", "conversation"} {
		delete(there, other)
	}
	there["id"] = jsonwire.AppendQuoted(nil, []byte(id))
	there["message_count"], there["updated_at"] = jsonwire.Text("0"), jsonwire.Text(`"1970-01-01T00:00:00Z"`)
	for name, value := range map[string]string{"working_dir": `""`, "extension_data": "{}"} {
		if _, ok := there[name]; !ok {
			there[name] = jsonwire.Text(value)
		}
	}
	if _, ok := there["created_at"]; !ok {
		there["created_at"] = jsonwire.AppendQuoted(nil, []byte(jsonwire.Time(created())))
	}
	return decodeMembers(there)
}

func decodeMembers(members map[string]jsonwire.Text) (old session.Session, err error) {
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	for name, value := range members {
		w.Name(name).Raw(value)
	}
	w.Close('}')
	return decode.Text(w.Text(), session.Decode)
}

// readMessage reads a message. Without metadata it is visible to both user and agent.
func readMessage(line []byte) (message.Message, error) {
	given, err := jsonwire.Parse(line)
	if err != nil || given.Kind() != "object" {
		return message.Message{}, errors.New("no object")
	}
	if given.Get("metadata").Kind() == "undefined" {
		line = append(bytes.TrimSuffix(bytes.TrimSpace(line), []byte("}")), `,"metadata":{"userVisible":true,"agentVisible":true}}`...)
	}
	return decode.Text(line, message.Decode)
}

// createdAt returns the creation time of a session whose file does not contain it.
func createdAt(path, id string, modified time.Time) time.Time {
	if born, ok := birth(path); ok {
		return born
	}
	if t, err := time.ParseInLocation("20060102_150405", id, time.Local); err == nil {
		return t
	}
	return modified
}

// insertLegacy inserts a session unchanged.
func insertLegacy(ctx context.Context, tx *sql.Tx, old session.Session) error {
	const row = `INSERT INTO sessions (id, name, session_type, working_dir, created_at) VALUES (?, ?, ?, ?, ?)`
	if _, err := tx.ExecContext(ctx, row, old.ID, old.Name, string(old.Type), old.WorkingDir, stamp(old.CreatedAt)); err != nil {
		return err
	}
	if err := add(ctx, tx, old.ID, old.Conversation); err != nil {
		return err
	}
	changes := append(SetTokens(old.Tokens), SetSchedule(old.ScheduleID), SetRecipe(old.Recipe),
		SetUserRecipeValues(old.UserRecipeValues), SetExtensionData(old.ExtensionData), Change{"user_set_name", old.UserSetName})
	if old.ProviderName != nil {
		changes = append(changes, Change{"provider_name", *old.ProviderName})
	}
	if old.ModelConfig != nil {
		changes = append(changes, Change{"model_config_json", string(jsonwire.Of(old.ModelConfig))})
	}
	if _, err := update(ctx, tx, old.ID, changes); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET updated_at = ? WHERE id = ?`, stamp(old.UpdatedAt), old.ID)
	return err
}
