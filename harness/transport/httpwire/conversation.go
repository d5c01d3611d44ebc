package httpwire

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A Conversation is an exchange whose response is still being read. One goroutine may read while another half-closes,
// resets or closes.
type Conversation struct {
	cn   *conn
	out  outgoing
	body body
	keep bool // the connection may be used again when the body has been read

	resetting atomic.Bool // when it is closed, then with a reset
	closing   atomic.Bool
	once      sync.Once
	err       error // of the closing
}

// Read reads the body, without its transfer coding. The error is io.EOF at its end. Any other has a method
// Failure() transcript.Failure.
func (cv *Conversation) Read(p []byte) (int, error) {
	n, err := cv.body.Read(p)
	if err != nil && err != io.EOF && cv.closing.Load() {
		err = wireErrorf(transcript.FailCanceled, transcript.PhaseBody, "closed by us")
	}
	return n, err
}

// CloseWrite ends our side of the connection (TCP FIN, TLS close_notify): the server learns that nothing more will come
// from us, and may go on sending.
func (cv *Conversation) CloseWrite() error {
	cv.out.stop(cv.cn)
	return cv.cn.closeWrite()
}

// Reset ends the connection with a reset (TCP RST), like a client that has crashed. A Read that is under way ends.
func (cv *Conversation) Reset() error {
	cv.resetting.Store(true)
	return cv.Close()
}

// Close ends the connection. A Read that is under way ends. To close or reset it again does nothing.
func (cv *Conversation) Close() error {
	cv.once.Do(func() {
		cv.closing.Store(true)
		switch sent := cv.out.stop(cv.cn); {
		case cv.resetting.Load():
			cv.err = cv.cn.reset()
		case sent:
			cv.err = cv.cn.Close()
		default: // the server does not read, and would not take leave either
			cv.err = cv.cn.abort()
		}
	})
	return cv.err
}

// detach takes the connection out of the context's reach.
func (cv *Conversation) detach() {
	if !cv.cn.release() { // the head was in time, by a hair
		_ = cv.cn.SetDeadline(time.Time{})
	}
}

// giveUp closes a connection on which nothing more is to come.
func (cv *Conversation) giveUp() {
	cv.cn.abort()
	cv.out.stop(cv.cn)
	cv.cn.release()
}
