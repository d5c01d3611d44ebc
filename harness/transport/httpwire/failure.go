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
	failure transcript.Failure
	cause   error
}

func (e *wireError) Error() string               { return e.failure.Text }
func (e *wireError) Unwrap() error               { return e.cause }
func (e *wireError) Failure() transcript.Failure { return e.failure }

// malformed is the failure of a response that is not HTTP.
func malformed(phase transcript.Phase, format string, args ...any) error {
	return wireErrorf(transcript.FailMalformed, phase, format, args...)
}

func wireErrorf(kind transcript.FailureKind, phase transcript.Phase, format string, args ...any) error {
	return &wireError{failure: transcript.Failure{Kind: kind, Phase: phase, Text: fmt.Sprintf(format, args...)}}
}

// broke is the failure of a read or write that returned err. What says how far the message had come.
func broke(err error, phase transcript.Phase, what string) error {
	kind, text := transcript.FailClosed, ""
	switch {
	case err == io.EOF:
		text = "the connection was closed"
	case err == io.ErrUnexpectedEOF: // from crypto/tls, which takes an end between two records for io.EOF
		text = "the connection was closed inside a TLS record"
	case isReset(err):
		kind, text = transcript.FailReset, "the connection was reset"
	case errors.Is(err, os.ErrDeadlineExceeded):
		kind, text = transcript.FailTimeout, "timeout"
	default:
		text = plain(err).Error()
	}
	if what != "" {
		text += " " + what
	}
	return &wireError{failure: transcript.Failure{Kind: kind, Phase: phase, Text: text}, cause: err}
}

// isReset reports whether the server reset the connection. A write meets EPIPE when the reset came before it.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED)
}

// plain takes off the part of a network error that names both addresses: ours differs from run to run.
func plain(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op != "dial" {
		return op.Err
	}
	return err
}

// failureOf returns the failure that err is.
func failureOf(err error) transcript.Failure {
	var known *wireError
	if !errors.As(err, &known) {
		panic("httpwire: an error that is no failure: " + err.Error())
	}
	return known.failure
}

// failure returns the failure that err is. When ctx is behind it, it says so instead.
func failure(ctx context.Context, err error) *transcript.Failure {
	f := failureOf(err)
	if ctx.Err() != nil && (errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed)) {
		f = ended(ctx, f.Phase)
	}
	return &f
}

// unconnected is the error of an exchange that got no connection.
func unconnected(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &wireError{ended(ctx, transcript.PhaseConnect), err}
	}
	return &wireError{
		transcript.Failure{Kind: transcript.FailConnect, Phase: transcript.PhaseConnect, Text: err.Error()}, err,
	}
}

// ended is the failure of an exchange whose context ended.
func ended(ctx context.Context, phase transcript.Phase) transcript.Failure {
	cause := context.Cause(ctx)
	kind := transcript.FailCanceled
	if errors.Is(cause, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = transcript.FailTimeout
	}
	return transcript.Failure{Kind: kind, Phase: phase, Text: cause.Error()}
}

// excerpt returns the first bytes of b, quoted: what a server sent is never shown as it is.
func excerpt(b []byte) string {
	const most = 100
	if len(b) > most {
		return strconv.Quote(string(b[:most])) + "…"
	}
	return strconv.Quote(string(b))
}
