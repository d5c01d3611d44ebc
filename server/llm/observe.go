package llm

import (
	"context"
	"errors"

	"github.com/lockstep-dev/lockstep/server/telemetry"
)

// observe records what a piece of an answer says of the call.
func observe(call *telemetry.Chat, piece Piece) {
	if call == nil {
		return
	}
	if piece.Usage != nil {
		call.Input, call.Output = piece.Usage.Input, piece.Usage.Output
	}
	call.ResponseModel, call.FinishReason = piece.Model, piece.finish
}

// observeStream records the end of a stream, which err explains unless it is complete or its reader has stopped.
func observeStream(ctx context.Context, call *telemetry.Chat, reader streamReader, stopped bool, err error) {
	if call == nil {
		return
	}
	call.ResponseModel, call.FinishReason = reader.facts()
	if err == nil && stopped {
		err = ctx.Err()
	}
	call.End(errorType(ctx, err))
}

// An invalidAnswer is the error of an answer that has arrived, but cannot be read.
type invalidAnswer struct{ error }

func (e invalidAnswer) Unwrap() error { return e.error }

func asInvalid(err error) error {
	if err == nil {
		return nil
	}
	return invalidAnswer{err}
}

// errorType returns the word of decision T16 for how a call has failed, or "" if it has not. ctx is that of the call.
func errorType(ctx context.Context, err error) string {
	if err == nil {
		return ""
	}
	switch {
	case errors.Is(context.Cause(ctx), errTimeout), errors.Is(ctx.Err(), context.DeadlineExceeded):
		return telemetry.Timeout
	case ctx.Err() != nil:
		return telemetry.Cancelled
	}
	for e, ok := errors.AsType[*Error](err); ok; e, ok = errors.AsType[*Error](e.cause) {
		if e.errorType != "" {
			return e.errorType
		}
	}
	if _, ok := errors.AsType[invalidAnswer](err); ok || errors.Is(err, errLongLine) || errors.Is(err, errLongAnswer) {
		return telemetry.InvalidResponse
	}
	return telemetry.ConnectionError
}
