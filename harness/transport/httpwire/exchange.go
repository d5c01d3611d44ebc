package httpwire

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// begin does an exchange up to the head of the response. Without a valid head, the conversation is nil, and the
// Exchange says why. Otherwise the end of ctx interrupts the connection until it is released.
func (c *Client) begin(ctx context.Context, start time.Time, req *Request) (*transcript.Exchange, *conversation, error) {
	msg, err := c.compose(req)
	if err != nil {
		return nil, nil, err
	}
	ex := &transcript.Exchange{Request: msg.record}
	var cv *conversation
	if ctx.Err() != nil {
		err = contextFailure(ctx, transcript.PhaseConnect, "")
	} else if cv, err = c.attempt(ctx, start, ex, msg, c.pool.get()); err == errRetry {
		cv, err = c.attempt(ctx, start, ex, msg, nil)
	}
	switch {
	case isLocalShortage(err):
		return nil, nil, err
	case err != nil:
		ex.Failure, ex.Done = failure(ctx, err), time.Since(start)
	}
	return ex, cv, nil
}

// errRetry is returned by attempt when the server has closed an idle connection, and the request can be sent again.
var errRetry = errors.New("the connection was closed while it was idle")

// attempt sends a request and reads the head of the response. It opens a connection when cn is nil.
func (c *Client) attempt(
	ctx context.Context, start time.Time, ex *transcript.Exchange, msg *message, cn *conn,
) (*conversation, error) {
	if cn == nil {
		var err error
		if cn, err = c.dial(ctx); err != nil {
			return nil, connectFailure(ctx, err)
		}
	}
	cv := &conversation{cn: cn}
	cn.guard(ctx)
	ex.Sent = time.Since(start)
	cv.out.send(cn, msg)
	interim, resp, err := cn.readHead(c.opts.MaxHead)
	if ex.Interim = interim; err != nil {
		return nil, cv.headFailure(msg, err)
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

// headFailure returns how an exchange without a head failed, and closes its connection.
//
// An exchange continues even if the request could not be written completely. A server may respond to a request before
// it has read all of it, and close the connection (413). A write error is the failure only if no byte was received.
func (cv *conversation) headFailure(msg *message, err error) error {
	sent := cv.out.state()
	cv.giveUp()
	switch {
	case cv.canRetry(msg, err):
		return errRetry
	case cv.cn.received || sent == complete:
		return err
	case sent == failed || isReset(cv.out.err): // only one of the reader and the writer gets the reset
		return ioFailure(cv.out.err, transcript.PhaseSend, cv.out.progress())
	default:
		e := *asWireError(err)
		e.phase, e.where = transcript.PhaseSend, cv.out.progress()
		return &e
	}
}

// canRetry reports whether a failed request may be sent again.
//
// A server may close an idle connection at any time, and a request that is sent at that moment gets no response. Then
// the server is right, and chance decides which target this happens to. A client may retry (RFC 9112 §9.3.1), but must
// not hide what a server does. So lockstep retries
//
//   - only on a connection that has waited in the pool. On a new one, the server did not want to respond.
//   - only when no byte of a response was received.
//   - only for an idempotent method: "A client SHOULD NOT automatically retry a request with a non-idempotent method
//     unless it has some means to know that the request semantics are actually idempotent, regardless of the method, or
//     some means to detect that the original request was never applied" (RFC 9110 §9.2.2). A POST that makes a server
//     drop the connection must not be done twice.
//
// There is one such means: if no byte of the request was written, it was never applied. The other cases are rare,
// because a connection waits no longer than Options.Idle, and is checked before it is used again.
func (cv *conversation) canRetry(msg *message, err error) bool {
	kind := asWireError(err).kind
	gone := kind == transcript.FailClosed || kind == transcript.FailReset
	return gone && cv.cn.reused && !cv.cn.received && (msg.idempotent || cv.out.written == 0)
}

// isPersistent reports whether the connection may be used again after a response (RFC 9112 §9.3). The keep-alive of
// HTTP/1.0 is not supported.
func isPersistent(method string, resp *transcript.Response) bool {
	switch {
	case leavesHTTP(method, resp):
		return false
	case resp.Proto == "HTTP/1.0":
		return false
	}
	return !resp.Header.HasElement("Connection", "close")
}

// leavesHTTP reports whether the connection no longer carries HTTP after a response.
func leavesHTTP(method string, resp *transcript.Response) bool {
	return resp.Status == 101 || method == "CONNECT" && resp.Status/100 == 2
}

// readRest reads the body into the exchange, and returns the connection to the pool.
func (c *Client) readRest(ctx context.Context, start time.Time, ex *transcript.Exchange, cv *conversation) {
	body, err := cv.body.readAll(c.opts.MaxBody)
	ex.Response.Body, ex.Response.Trailer = body, cv.body.fields
	ex.Done = time.Since(start)
	sent := cv.out.stop(cv.cn)
	uninterrupted := cv.cn.release()
	if err != nil {
		ex.Failure = failure(ctx, err)
	} else if ex.Response.Status != 206 { // a part of a coded body cannot be decoded
		ex.Response.Body.Decode(ex.Response.Header, c.opts.MaxBody)
	}
	switch {
	case err != nil || !sent || !uninterrupted:
		cv.cn.abort()
	case cv.keep, cv.body.framing == noBody && !leavesHTTP(ex.Request.Method, ex.Response):
		cv.cn.last, cv.cn.held, cv.cn.noReuse = ex, cv.body.framing == noBody, !cv.keep
		c.pool.put(cv.cn)
	default:
		cv.cn.Close()
	}
}
