package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
)

//go:embed migrations
var migrations embed.FS

// current is the schema version that this package reads and writes.
const current = 6

// migrate updates the schema in one transaction, so that only one of several starting processes does it. A database
// with a later version is used unchanged. A new one imports the sessions of older versions from dir; leftOut has the
// reason for each file that was not imported.
func migrate(ctx context.Context, write writer, dir string) (leftOut []error, err error) {
	err = write.change(ctx, func(tx *sql.Tx) error {
		const table = `CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)`
		if _, err := tx.ExecContext(ctx, table); err != nil {
			return err
		}
		var version int
		if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM schema_version`).Scan(&version); err != nil {
			return err
		}
		if version == 0 {
			if err := apply(ctx, tx, "current", current); err != nil {
				return err
			}
			var err error
			leftOut, err = takeOver(ctx, tx, dir)
			return err
		}
		for version++; version <= current; version++ {
			if err := apply(ctx, tx, fmt.Sprint(version), version); err != nil {
				return err
			}
		}
		return nil
	})
	return leftOut, err
}

func apply(ctx context.Context, tx *sql.Tx, name string, version int) error {
	script, err := migrations.ReadFile("migrations/" + name + ".sql")
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, string(script)); err != nil {
		return fmt.Errorf("migrate to version %d: %w", version, err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO schema_version (version) VALUES (?)`, version)
	return err
}
