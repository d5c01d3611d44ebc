package httpwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A wireError is a transcript.Failure on its way through functions that return errors.
type wireError struct {
	kind  transcript.FailureKind
	phase transcript.Phase
	text  string // what happened
	where string // how far the message had come; empty when the text says it
	cause error
}

func (e *wireError) Error() string { return e.Failure().Text }
func (e *wireError) Unwrap() error { return e.cause }

func (e *wireError) Failure() transcript.Failure {
	text := e.text
	if e.where != "" {
		text += " " + e.where
	}
	return transcript.Failure{Kind: e.kind, Phase: e.phase, Text: text}
}

// malformed is the failure of a response that is not HTTP.
func malformed(phase transcript.Phase, format string, args ...any) error {
	return wireErrorf(transcript.FailMalformed, phase, format, args...)
}

func wireErrorf(kind transcript.FailureKind, phase transcript.Phase, format string, args ...any) error {
	return &wireError{kind: kind, phase: phase, text: fmt.Sprintf(format, args...)}
}

// broke is the failure of a read or write that returned err. Where says how far the message had come.
func broke(err error, phase transcript.Phase, where string) error {
	e := &wireError{kind: transcript.FailClosed, phase: phase, where: where, cause: err}
	switch {
	case err == io.EOF:
		e.text = "the connection was closed"
	case err == io.ErrUnexpectedEOF: // from crypto/tls, which takes an end between two records for io.EOF
		e.text = "the connection was closed inside a TLS record"
	case isReset(err):
		e.kind, e.text = transcript.FailReset, "the connection was reset"
	case errors.Is(err, os.ErrDeadlineExceeded):
		e.kind, e.text = transcript.FailTimeout, "timeout"
	default:
		e.text = plain(err).Error()
	}
	return e
}

// isReset reports whether the server reset the connection. A write meets EPIPE when the reset came before it.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED)
}

// isOurs reports whether a connection could not be made because this side has no means left for one. The server has not
// heard of it.
func isOurs(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}

// plain takes off the part of a network error that names both addresses: ours differs from run to run.
func plain(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op != "dial" {
		return op.Err
	}
	return err
}

// failure returns the failure that err is. When the end of ctx is behind it, it says so.
func failure(ctx context.Context, err error) *transcript.Failure {
	e := asWireError(err)
	if ctx.Err() != nil && (errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed)) {
		e = ended(ctx, e.phase, e.where)
	}
	f := e.Failure()
	return &f
}

func asWireError(err error) *wireError {
	var e *wireError
	if !errors.As(err, &e) {
		panic("httpwire: an error that is no failure: " + err.Error())
	}
	return e
}

// ended is the failure of an exchange whose context ended.
func ended(ctx context.Context, phase transcript.Phase, where string) *wireError {
	cause := context.Cause(ctx)
	kind := transcript.FailCanceled
	if errors.Is(cause, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = transcript.FailTimeout
	}
	return &wireError{kind: kind, phase: phase, text: cause.Error(), where: where, cause: cause}
}

// unconnected is the failure of an exchange that got no connection.
func unconnected(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx, transcript.PhaseConnect, "")
	}
	return &wireError{kind: transcript.FailConnect, phase: transcript.PhaseConnect, text: err.Error(), cause: err}
}

// mostShown is how many bytes of a server's an excerpt has.
const mostShown = 100

// excerpt returns the first bytes of b, quoted: what a server sent is never shown as it is.
func excerpt(b []byte) string {
	if len(b) > mostShown {
		return strconv.Quote(string(b[:mostShown])) + "…"
	}
	return strconv.Quote(string(b))
}
