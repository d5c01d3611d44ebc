// Package store keeps sessions and their messages in an SQLite database (GA 9.1, 17.1).
//
// A change survives any end of the process once its method has returned, because the operating system then has it as
// part of a transaction. It is not flushed to disk each time, so a power failure can lose the last transactions, but
// the database stays consistent.
//
// Writes use one connection, one after another. Reads run concurrently and see the last committed state. Other
// processes may use the same database; a process that finds it locked waits for up to five seconds.
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

	"modernc.org/sqlite" // also registers the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/lockstep-dev/lockstep/server/files"
)

// lockTimeout is how long a transaction waits for one of another process.
const lockTimeout = 5 * time.Second

// A Store is an open database. Its methods are safe for concurrent use.
type Store struct {
	// Made is called with the ID of each session after it is created.
	Made func(id string)

	// LeftOut has the reasons why session files of older versions were not imported (GA 17.3).
	LeftOut []error

	// Damage says why the file is not a usable database, or is nil. If it is set, every operation fails, and the file
	// stays as it is (decision S54).
	Damage error

	write writer
	read  *readers
}

// Open opens the database at an absolute path, whose directory must exist, and creates it if necessary. A new
// database imports the session files of older versions from its directory. An older schema is migrated.
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

// protect keeps other users from reading the database. SQLite gives the same mode to the files next to it.
func protect(path string) error {
	for _, beside := range []string{"-wal", "-shm"} { // left by a server that was killed
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

// patiently repeats do while the database is locked, up to lockTimeout. SQLite does not wait itself while a new
// database gets its journal mode.
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

// failedWith reports whether an error is an SQLite error with one of the codes.
func failedWith(err error, codes ...int) bool {
	failure, ok := errors.AsType[*sqlite.Error](err)
	return ok && slices.Contains(codes, failure.Code()&0xff)
}

// Close closes the database. The store cannot be used afterwards.
func (s *Store) Close() error { return errors.Join(s.read.close(), s.write.Close()) }

// A writer is the only connection that writes.
type writer struct{ *sql.DB }

// change runs a transaction that writes.
func (w writer) change(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := w.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // also after a panic; does nothing after a commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// stamp formats a time as the database stores it (GA 17.1).
func stamp(t time.Time) string { return t.UTC().Format(time.DateTime) }

// moment parses a time of the database, which other programs may have written in other formats.
func moment(text string) time.Time {
	for _, layout := range []string{"2006-01-02 15:04:05.999999999", time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Unix(0, 0).UTC()
}
