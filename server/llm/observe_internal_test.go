package llm

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Decision T16.
func TestAFailedCallHasOneOfAFewWords(t *testing.T) {
	running := t.Context()
	left, leave := context.WithCancel(running)
	leave()
	late, cancel := context.WithTimeoutCause(running, 0, errTimeout)
	defer cancel()
	<-late.Done()
	over, end := context.WithDeadline(running, time.Now())
	defer end()
	<-over.Done()
	inside, err := jsonwire.Parse([]byte(`{"error":{"code":429,"message":"slow"}}`))
	if err != nil {
		t.Fatal(err)
	}
	refused := statusError(400, []byte(`{"error":{"message":"no"}}`))
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{running, nil, ""},
		{running, statusError(429, nil), "429"},
		{running, &Error{Message: "explained", cause: refused}, "400"},
		{running, noAnswer(late, time.Second, io.EOF), "timeout"},
		{late, io.EOF, "timeout"}, // in the middle of a stream
		{over, io.EOF, "timeout"},
		{left, noAnswer(left, time.Second, context.Canceled), "cancelled"},
		{left, context.Canceled, "cancelled"},
		{running, noAnswer(running, time.Second, errors.New("refused")), "connection_error"},
		{running, io.EOF, "connection_error"},
		{running, unreadable(io.ErrUnexpectedEOF), "connection_error"},
		{running, unreadable(errLongAnswer), "invalid_response"},
		{running, errLongLine, "invalid_response"},
		{running, asInvalid(errShape), "invalid_response"},
		{running, unreadable(asInvalid(errNotUTF8)), "invalid_response"},
		{running, errorInside(nil, inside), "invalid_response"},
	} {
		if got := errorType(c.ctx, c.err); got != c.want {
			t.Errorf("errorType of %v is %q, want %q", c.err, got, c.want)
		}
	}
}
