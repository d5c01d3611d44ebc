package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"sync"

	"github.com/lockstep-dev/lockstep/server/domain/session"
)

// maxReaders is the maximum number of concurrent reads.
const maxReaders = 4

// readers are read-only connections with prepared statements, because compiling the statements takes longer than
// running them. They are created when needed, and kept.
type readers struct {
	db     *sql.DB
	places chan struct{}

	mu   sync.Mutex
	idle []*reader
}

// A reader is one connection with its statements.
type reader struct {
	conn                     *sql.Conn
	begin, end               *sql.Stmt
	session, messages, count *sql.Stmt
	all                      []*sql.Stmt
}

func newReaders(path string) (*readers, error) {
	db, err := open(path, maxReaders, "_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	return &readers{db: db, places: make(chan struct{}, maxReaders)}, nil
}

// use calls do with a reader. It waits for a reader until the context ends. It never interrupts the read itself,
// which is short, because watching a context would cost a goroutine for each statement.
func (r *readers) use(ctx context.Context, do func(ctx context.Context, from *reader) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case r.places <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-r.places }()
	ctx = context.WithoutCancel(ctx)
	from, err := r.take(ctx)
	if err != nil {
		return err
	}
	sound := false
	defer func() {
		if sound {
			r.giveBack(from)
		} else { // its state is unknown
			from.close()
		}
	}()
	err = do(ctx, from)
	sound = err == nil || errors.Is(err, session.ErrNotFound)
	return err
}

// together runs several reads on the same snapshot of the database.
func (r *readers) together(ctx context.Context, do func(ctx context.Context, from *reader) error) error {
	return r.use(ctx, func(ctx context.Context, from *reader) error {
		if _, err := from.begin.ExecContext(ctx); err != nil {
			return err
		}
		err := do(ctx, from)
		_, ended := from.end.ExecContext(ctx)
		return errors.Join(err, ended)
	})
}

// rows calls scan for each row of a query.
func (r *readers) rows(ctx context.Context, query string, scan func(row *sql.Rows) error) error {
	return r.use(ctx, func(ctx context.Context, from *reader) error {
		rows, err := from.conn.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

func (r *readers) take(ctx context.Context) (*reader, error) {
	r.mu.Lock()
	if last := len(r.idle) - 1; last >= 0 {
		from := r.idle[last]
		r.idle = r.idle[:last]
		r.mu.Unlock()
		return from, nil
	}
	r.mu.Unlock()
	return r.connect(ctx)
}

func (r *readers) giveBack(from *reader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, from)
}

func (r *readers) connect(ctx context.Context) (*reader, error) {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	from := &reader{conn: conn}
	for _, s := range []struct {
		statement **sql.Stmt
		text      string
	}{
		{&from.begin, `BEGIN`},
		{&from.end, `COMMIT`},
		{&from.session, selectSession},
		{&from.messages, selectMessages},
		{&from.count, selectTokens},
	} {
		if *s.statement, err = conn.PrepareContext(ctx, s.text); err != nil {
			from.close()
			return nil, err
		}
		from.all = append(from.all, *s.statement)
	}
	return from, nil
}

func (r *reader) close() error {
	var errs []error
	for _, statement := range r.all {
		errs = append(errs, statement.Close())
	}
	// The pool must not reuse the connection, because a transaction may be open on it.
	errs = append(errs, r.conn.Raw(func(any) error { return driver.ErrBadConn }))
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, driver.ErrBadConn) })...)
}

// close waits for running reads, and closes the connections.
func (r *readers) close() error {
	for range maxReaders {
		r.places <- struct{}{}
	}
	var errs []error
	for _, from := range r.idle {
		errs = append(errs, from.close())
	}
	return errors.Join(append(errs, r.db.Close())...)
}
