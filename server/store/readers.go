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

// maxReaders is how many reads go on at a time.
const maxReaders = 4

// readers are connections that only read, with their statements prepared: to compile those would take longer than to run
// them. They are made when they are needed, and kept.
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

// use lets something be read. It waits for a reader as long as the context lasts; the reading itself is never cut off, as
// it is short, and watching a context would cost a goroutine for each statement.
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

// together reads several things as they are at one moment.
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

// rows reads the rows of a query, one after the other.
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
	// The pool must not give the connection to others: a transaction may be open on it.
	errs = append(errs, r.conn.Raw(func(any) error { return driver.ErrBadConn }))
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, driver.ErrBadConn) })...)
}

// close waits for those who read, and closes the connections.
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
