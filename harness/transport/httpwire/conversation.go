package httpwire

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A conversation is an exchange whose response is still being read. One goroutine may read while another half-closes or
// closes it.
type conversation struct {
	cn   *conn
	out  outgoing
	body body
	keep bool // the connection may be used again when the body has been read

	resetting atomic.Bool // Close resets the connection
	closing   atomic.Bool
	once      sync.Once
	err       error // the result of closing
}

// Read reads the body, without its transfer coding. At its end, the error is io.EOF. Any other error has a method
// Failure() transcript.Failure.
func (cv *conversation) Read(p []byte) (int, error) {
	n, err := cv.body.Read(p)
	if err != nil && err != io.EOF && cv.closing.Load() {
		err = wireErrorf(transcript.FailCanceled, transcript.PhaseBody, "closed by us")
	}
	return n, err
}

// write sends bytes after the request. The end of ctx interrupts it.
func (cv *conversation) write(ctx context.Context, p []byte) (int, error) {
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		if cv.cn.SetWriteDeadline(past) != nil { // a connection of Options.Dial without deadlines
			cv.cn.abort()
		}
	})
	n, err := cv.cn.Write(p)
	if !stop() {
		<-interrupted
		_ = cv.cn.SetWriteDeadline(time.Time{}) // the write may have been complete
	}
	switch {
	case err == nil:
		return n, nil
	case ctx.Err() != nil:
		return n, contextFailure(ctx, transcript.PhaseSend, "")
	case cv.closing.Load():
		return n, wireErrorf(transcript.FailCanceled, transcript.PhaseSend, "closed by us")
	default:
		return n, ioFailure(err, transcript.PhaseSend, "")
	}
}

// CloseWrite closes the client's sending side of the connection (TCP FIN, TLS close_notify). The server may continue to
// send.
func (cv *conversation) CloseWrite() error {
	cv.out.stop(cv.cn)
	return cv.cn.closeWrite()
}

// Close closes the connection, and ends a pending Read. Closing it again does nothing.
func (cv *conversation) Close() error {
	cv.once.Do(func() {
		cv.closing.Store(true)
		switch sent := cv.out.stop(cv.cn); {
		case cv.resetting.Load():
			cv.err = cv.cn.reset()
		case sent:
			cv.err = cv.cn.Close()
		default: // the server does not read, so it would not read a close_notify either
			cv.err = cv.cn.abort()
		}
	})
	return cv.err
}

// detach makes sure that the end of the context no longer interrupts the connection.
func (cv *conversation) detach() {
	if !cv.cn.release() { // the context ended just after the head had come
		_ = cv.cn.SetDeadline(time.Time{})
	}
}

// giveUp closes the connection of an exchange that failed.
func (cv *conversation) giveUp() {
	cv.cn.abort()
	cv.out.stop(cv.cn)
	cv.cn.release()
}
