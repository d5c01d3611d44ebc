package httpwire

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// begin does an exchange up to the head of the response. Without one, or with one that does not tell where the body
// ends, the Conversation is nil and the Exchange says why. Otherwise ctx guards the connection until it is released.
func (c *Client) begin(ctx context.Context, start time.Time, req *Request) (*transcript.Exchange, *Conversation, error) {
	msg, err := c.compose(req)
	if err != nil {
		return nil, nil, err
	}
	ex := &transcript.Exchange{Request: msg.record}
	var cv *Conversation
	if ctx.Err() != nil {
		err = ended(ctx, transcript.PhaseConnect, "")
	} else if cv, err = c.attempt(ctx, start, ex, msg, c.pool.get()); err == errUnanswered {
		cv, err = c.attempt(ctx, start, ex, msg, nil)
	}
	switch {
	case err == errNoHalfClose || isOurs(err):
		return nil, nil, err
	case err != nil:
		ex.Failure, ex.Done = failure(ctx, err), time.Since(start)
	}
	return ex, cv, nil
}

// errUnanswered is returned by attempt when a request met a connection that the server was closing, and can be sent
// again.
var errUnanswered = errors.New("the connection was closed while it was idle")

// attempt sends a request and reads the head of the response. Without a connection it makes one.
func (c *Client) attempt(
	ctx context.Context, start time.Time, ex *transcript.Exchange, msg *message, cn *conn,
) (*Conversation, error) {
	if cn == nil {
		var err error
		if cn, err = c.dial(ctx); err != nil {
			return nil, unconnected(ctx, err)
		}
	}
	if msg.halfClose && !cn.canHalfClose() {
		cn.abort()
		return nil, errNoHalfClose
	}
	cv := &Conversation{cn: cn}
	cn.guard(ctx)
	ex.Sent = time.Since(start)
	cv.out.send(cn, msg)
	interim, resp, err := cn.readHead(c.opts.MaxHead)
	if ex.Interim = interim; err != nil {
		return nil, cv.unanswered(msg, err)
	}
	ex.Head, ex.Response = time.Since(start), resp
	framing, length, err := framingOf(msg.record.Method, resp)
	if err != nil {
		cv.giveUp()
		return nil, err
	}
	cv.body = body{cn: cn, framing: framing, left: length, trailer: c.opts.MaxHead}
	cv.keep = framing != untilClose && !msg.close && isPersistent(msg.record.Method, resp)
	return cv, nil
}

// unanswered says how an exchange failed that got no head, and closes its connection.
//
// That the request could not be written does not end an exchange: a server may answer one that it has not read to the
// end, and close (413). It counts when nothing came.
func (cv *Conversation) unanswered(msg *message, err error) error {
	sent := cv.out.state()
	cv.giveUp()
	switch {
	case cv.canRetry(msg, err):
		return errUnanswered
	case cv.cn.received || sent == complete:
		return err
	case sent == failed || isReset(cv.out.err): // a reset is told only once: to the reader or to the writer
		return broke(cv.out.err, transcript.PhaseSend, cv.out.progress())
	default:
		e := *asWireError(err)
		e.phase, e.where = transcript.PhaseSend, cv.out.progress()
		return &e
	}
}

// canRetry reports whether a request may be sent again although it failed.
//
// A server may close an idle connection at any time, and a request that crosses the closing on its way gets no answer.
// That is no fault of the server's, and would be found on one target and not on the other by chance. A client may retry
// then (RFC 9112 §9.3.1), but what a server does must not be hidden. So we do
//
//   - only on a connection that has waited in the pool. On a fresh one the silence is the server's answer.
//   - only when not a byte of a response came. Half an answer is one.
//   - only for an idempotent method: "A client SHOULD NOT automatically retry a request with a non-idempotent method
//     unless it has some means to know that the request semantics are actually idempotent, regardless of the method, or
//     some means to detect that the original request was never applied" (RFC 9110 §9.2.2). A POST that makes a server
//     drop the connection must neither be done twice nor be reported as done once.
//
// There is one such means: when not a byte of the request could be written, it was never applied. What remains is small,
// since a connection waits no longer than Options.Idle, and is looked at before it is used again.
func (cv *Conversation) canRetry(msg *message, err error) bool {
	kind := asWireError(err).kind
	gone := kind == transcript.FailClosed || kind == transcript.FailReset
	return gone && cv.cn.reused && !cv.cn.received && (msg.idempotent || cv.out.written == 0)
}

// isPersistent reports whether the connection may be used again after a response (RFC 9112 §9.3). A server of HTTP/1.0
// could ask for it; we do not go along.
func isPersistent(method string, resp *transcript.Response) bool {
	switch {
	case switched(method, resp):
		return false
	case resp.Proto == "HTTP/1.0":
		return false
	}
	return !hasToken(resp.Header, "Connection", "close")
}

// switched reports whether a connection no longer speaks HTTP.
func switched(method string, resp *transcript.Response) bool {
	return resp.Status == 101 || method == "CONNECT" && resp.Status/100 == 2
}

// readRest reads the body into the exchange, and gives the connection back.
func (c *Client) readRest(ctx context.Context, start time.Time, ex *transcript.Exchange, cv *Conversation) {
	body, err := cv.body.readAll(c.opts.MaxBody)
	ex.Response.Body, ex.Response.Trailer = body, cv.body.fields
	ex.Done = time.Since(start)
	sent := cv.out.stop(cv.cn)
	unharmed := cv.cn.release()
	if err != nil {
		ex.Failure = failure(ctx, err)
	} else if ex.Response.Status != 206 { // a part of a body is not in any coding by itself
		ex.Response.Body.Decode(ex.Response.Header, c.opts.MaxBody)
	}
	switch {
	case err != nil || !sent || !unharmed:
		cv.cn.abort()
	case cv.keep, cv.body.framing == noBody && !switched(ex.Request.Method, ex.Response):
		cv.cn.last, cv.cn.held, cv.cn.spent = ex, cv.body.framing == noBody, !cv.keep
		c.pool.put(cv.cn)
	default:
		cv.cn.Close()
	}
}
