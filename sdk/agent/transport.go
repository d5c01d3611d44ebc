package agentsdk

import (
	"context"
	"encoding/json"
	"iter"
)

// A Transport carries lines to a CLI and back. [NewSubprocessTransport] starts one; package agenttest has one for tests.
//
// ReadMessages yields each line that is not blank, once, and may be called once. A line need not be valid JSON: the
// session reports and skips it. An error is the last thing that is yielded: it says how the CLI has failed. At a normal end
// there is none.
//
// Write writes a line, without an LF at its end, as a whole. Its context only counts until the write starts. It may be
// called from several goroutines, also while ReadMessages is read.
//
// EndInput tells the CLI that no more lines come. Close ends it, and returns after it has ended. Both may be called several
// times.
type Transport interface {
	Connect(ctx context.Context) error
	Write(ctx context.Context, line []byte) error
	ReadMessages() iter.Seq2[json.RawMessage, error]
	EndInput() error
	Close(ctx context.Context) error
}
