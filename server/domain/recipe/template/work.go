package template

import (
	"context"
	"errors"
)

// These bounds limit the templates of one recipe (decision G22).
const (
	maxPieces = 100_000
	maxBytes  = 10 << 20
	maxFiles  = 100
	maxLooks  = 10_000_000
	maxDepth  = 200 // of tags, of expressions, and of nested rendering
)

var (
	errPieces   = errors.New("the template has too many pieces")
	errTooLarge = errors.New("the text becomes too large")
	errLooks    = errors.New("the expressions take too long")
	errFiles    = errors.New("the template includes too many files")
)

// Work counts the cost of parsing and rendering the templates of one recipe. It fails when that is too high, or when
// its context has ended. It is not safe for concurrent use.
type Work struct {
	ctx                         context.Context
	pieces, bytes, files, looks int
	unseen                      int // the cost since the context was last checked
}

// NewWork returns a Work without any cost.
func NewWork(ctx context.Context) *Work { return &Work{ctx: ctx} }

// piece counts pieces: rendered ones, iterations of loops, and tokens of expressions.
func (w *Work) piece(n int) error { return w.count(&w.pieces, n, maxPieces, errPieces) }

// look counts the bytes and items that expressions look at.
func (w *Work) look(n int) error { return w.count(&w.looks, n, maxLooks, errLooks) }

// write counts the bytes of the output.
func (w *Work) write(n int) error { return w.count(&w.bytes, n, maxBytes, errTooLarge) }

// file counts an included file.
func (w *Work) file() error { return w.count(&w.files, 1, maxFiles, errFiles) }

// make counts the bytes of a text before it is built.
func (w *Work) make(n int) error {
	if n > maxBytes {
		return errTooLarge
	}
	return w.look(n)
}

func (w *Work) count(counter *int, n, most int, tooMuch error) error {
	if *counter += n; *counter > most {
		return tooMuch
	}
	const often = 10_000 // a fraction of a millisecond
	if w.unseen += n; w.unseen < often {
		return nil
	}
	w.unseen = 0
	return context.Cause(w.ctx)
}
