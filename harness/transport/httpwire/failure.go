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

// A wireError is a transcript.Failure as an error.
type wireError struct {
	kind  transcript.FailureKind
	phase transcript.Phase
	text  string // what happened
	where string // how much of the message was received; empty when the text says it
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

// malformed is the failure of a response that is not valid HTTP.
func malformed(phase transcript.Phase, format string, args ...any) error {
	return wireErrorf(transcript.FailMalformed, phase, format, args...)
}

func wireErrorf(kind transcript.FailureKind, phase transcript.Phase, format string, args ...any) error {
	return &wireError{kind: kind, phase: phase, text: fmt.Sprintf(format, args...)}
}

// ioFailure is the failure of a read or write that returned err. where says how much of the message was received.
func ioFailure(err error, phase transcript.Phase, where string) error {
	e := &wireError{kind: transcript.FailClosed, phase: phase, where: where, cause: err}
	switch {
	case err == io.EOF:
		e.text = "the connection was closed"
	case err == io.ErrUnexpectedEOF: // from crypto/tls; between two records it returns io.EOF
		e.text = "the connection was closed inside a TLS record"
	case isReset(err):
		e.kind, e.text = transcript.FailReset, "the connection was reset"
	case errors.Is(err, os.ErrDeadlineExceeded):
		e.kind, e.text = transcript.FailTimeout, "timeout"
	default:
		e.text = withoutAddresses(err).Error()
	}
	return e
}

// isReset reports whether the server reset the connection. A write after the reset gets EPIPE.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED)
}

// isLocalShortage reports whether a connection could not be opened because this machine is out of files, buffers or
// memory.
func isLocalShortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}

// withoutAddresses removes the addresses from a network error, because the local one differs in each run.
func withoutAddresses(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op != "dial" {
		return op.Err
	}
	return err
}

// failure returns err as a Failure. If the end of ctx caused it, the Failure says so.
func failure(ctx context.Context, err error) *transcript.Failure {
	e := asWireError(err)
	if ctx.Err() != nil && (errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed)) {
		e = contextFailure(ctx, e.phase, e.where)
	}
	f := e.Failure()
	return &f
}

func asWireError(err error) *wireError {
	var e *wireError
	if !errors.As(err, &e) {
		panic("httpwire: not a wireError: " + err.Error())
	}
	return e
}

// contextFailure is the failure of an exchange whose context ended.
func contextFailure(ctx context.Context, phase transcript.Phase, where string) *wireError {
	cause := context.Cause(ctx)
	kind := transcript.FailCanceled
	if errors.Is(cause, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = transcript.FailTimeout
	}
	return &wireError{kind: kind, phase: phase, text: cause.Error(), where: where, cause: cause}
}

// connectFailure is the failure of an exchange that got no connection.
func connectFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return contextFailure(ctx, transcript.PhaseConnect, "")
	}
	return &wireError{kind: transcript.FailConnect, phase: transcript.PhaseConnect, text: err.Error(), cause: err}
}

const maxExcerpt = 100

// excerpt returns the first bytes of b, quoted, because it is not safe to print what a server sent.
func excerpt(b []byte) string {
	if len(b) > maxExcerpt {
		return strconv.Quote(string(b[:maxExcerpt])) + "…"
	}
	return strconv.Quote(string(b))
}
