// Package store keeps sessions and their messages in an SQLite database (GA 9.1, 17.1).
//
// What a method has acknowledged survives the end of the process, however sudden: it has been handed to the operating
// system, as part of a transaction. It is not forced to the disk each time, so that a loss of power can cost the last
// transactions; the database stays whole.
//
// Writes go through one connection, one after the other; reads go beside them and see the last state that was complete.
// Another process may use the same database: a process that finds it locked waits for at most five seconds.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"modernc.org/sqlite" // also the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/lockstep-dev/lockstep/server/files"
)

// lockTimeout is how long a transaction waits for that of another process.
const lockTimeout = 5 * time.Second

// A Store is an open database. Its methods may be called at any time by anybody.
type Store struct {
	// Made is called with the id of each session that is made, when that is done; nothing is called if it is nil.
	Made func(id string)

	// LeftOut are the reasons why session files of older versions were not taken over (GA 17.3).
	LeftOut []error

	// Damage is why the file is no database of sessions: every operation fails then, and the file stays as it is (decision
	// S54). It is nil if the file is one.
	Damage error

	write writer
	read  *readers
}

// Open opens the database at an absolute path, and makes it if there is none; its directory must exist. A new one takes over
// the session files of older versions in its directory; an older schema is brought up to date.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := protect(path); err != nil {
		return nil, err
	}
	db, err := open(path, 1, "_txlock=immediate", "_pragma=foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	write := writer{db}
	s := &Store{Made: func(string) {}, write: write}
	migrated := func(ctx context.Context) (err error) {
		s.LeftOut, err = migrate(ctx, write, filepath.Dir(path))
		return err
	}
	if err := patiently(ctx, migrated); err != nil {
		err = fmt.Errorf("database %s: %w", path, err)
		if !failedWith(err, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT) {
			write.Close()
			return nil, err
		}
		s.Damage = err
	}
	if s.read, err = newReaders(path); err != nil {
		write.Close()
		return nil, err
	}
	return s, nil
}

// protect keeps others from reading the database. SQLite gives the files beside it the mode that it has.
func protect(path string) error {
	for _, beside := range []string{"-wal", "-shm"} { // of a server that was killed
		if err := os.Chmod(path+beside, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := files.OpenPrivate(path, os.O_RDWR)
	if err != nil {
		return err
	}
	return f.Close()
}

func open(path string, connections int, options ...string) (*sql.DB, error) {
	dsn := (&url.URL{Scheme: "file", Path: path}).String()
	dsn += fmt.Sprintf("?_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)", lockTimeout.Milliseconds())
	for _, option := range options {
		dsn += "&" + option
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// patiently does something again as long as the database is locked, for as long as a transaction waits. SQLite does not
// wait by itself where the journal mode of a new database is set.
func patiently(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	for {
		err := do(ctx)
		if !failedWith(err, sqlite3.SQLITE_BUSY) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// failedWith says whether an error is one of SQLite with one of these codes.
func failedWith(err error, codes ...int) bool {
	failure, ok := errors.AsType[*sqlite.Error](err)
	return ok && slices.Contains(codes, failure.Code()&0xff)
}

// Close closes the database. Nobody may use it any more.
func (s *Store) Close() error { return errors.Join(s.read.close(), s.write.Close()) }

// A writer is the one connection that writes.
type writer struct{ *sql.DB }

// change runs a transaction that writes.
func (w writer) change(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := w.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // of a panic, too; it does nothing behind a commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// stamp is how the database writes moments (GA 17.1).
func stamp(t time.Time) string { return t.UTC().Format(time.DateTime) }

// moment reads a moment of the database, which other programs may have written in other ways.
func moment(text string) time.Time {
	for _, layout := range []string{"2006-01-02 15:04:05.999999999", time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Unix(0, 0).UTC()
}
