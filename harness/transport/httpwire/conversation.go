package httpwire

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
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

	writing sync.Mutex // held while bytes are sent after the request
	lost    error      // the reset that such a write got; guarded by writing
	once    sync.Once
	err     error // the result of closing
}

// Read reads the body, without its transfer coding. At its end, the error is io.EOF. Any other error has a method
// Failure() transcript.Failure.
func (cv *conversation) Read(p []byte) (int, error) {
	n, err := cv.body.Read(p)
	if err == io.EOF && cv.body.framing == upgraded {
		if reset := cv.writeReset(); reset != nil {
			err = ioFailure(reset, transcript.PhaseBody, "")
		}
	}
	if err != nil && err != io.EOF && cv.closing.Load() {
		err = wireErrorf(transcript.FailCanceled, transcript.PhaseBody, "closed by us")
	}
	return n, err
}

// writeReset returns the reset of the connection if a write got it: the system reports a reset only once, and the
// reader gets io.EOF then. It ends a write that is under way, because the other protocol is over. EPIPE does not count:
// the server closed the connection first.
func (cv *conversation) writeReset() error {
	if cv.cn.SetWriteDeadline(past) != nil {
		cv.cn.abort()
	}
	cv.writing.Lock()
	defer cv.writing.Unlock()
	return cv.lost
}

// write sends bytes after the request. The end of ctx interrupts it.
func (cv *conversation) write(ctx context.Context, p []byte) (int, error) {
	cv.writing.Lock()
	defer cv.writing.Unlock()
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
	if errors.Is(err, syscall.ECONNRESET) {
		cv.lost = err
	}
	switch {
	case err == nil:
		return n, nil
	case ctx.Err() != nil:
		return n, contextFailure(ctx, transcript.PhaseSend, "")
	case cv.closing.Load():
		return n, wireErrorf(transcript.FailCanceled, transcript.PhaseSend, "closed by us")
	case errors.Is(err, os.ErrDeadlineExceeded): // writeReset has ended it
		return n, wireErrorf(transcript.FailClosed, transcript.PhaseSend, "the server has closed the connection")
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
