package clienttools

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	maxReconnects = 5
	maxWait       = 30 * time.Second
	checkAfter    = time.Second // a reconnect
	maxCalls      = 1000        // that run at once; the stream waits while there are more
)

// A link is a client's connection, from Connect to Close or to its failure. It spans several streams.
type link struct {
	c    *Client
	ctx  context.Context // its life, and that of its calls
	stop context.CancelCauseFunc

	up      chan struct{} // closed when the first stream is requested
	isUp    func()        // closes up
	done    chan struct{} // closed when no goroutine is left; err is set before that
	err     error         // why it ended
	running sync.WaitGroup
	calls   chan struct{} // an element for each call that runs

	// The client's mutex guards these.
	connected bool            // the registration was answered, and the stream is not lost
	socket    *websocket.Conn // nil unless one is open
}

func newLink(c *Client) *link {
	l := &link{c: c, up: make(chan struct{}), done: make(chan struct{}), calls: make(chan struct{}, maxCalls)}
	l.ctx, l.stop = context.WithCancelCause(context.Background())
	l.isUp = sync.OnceFunc(func() { close(l.up) })
	go func() {
		err := l.run()
		ended := l.ctx.Err() != nil // by Close, or by the context of Connect
		l.stop(err)
		l.running.Wait()
		l.err = err
		c.mu.Lock()
		c.link = nil
		c.mu.Unlock()
		if !ended {
			c.report(err)
		}
		close(l.done)
	}()
	return l
}

// run makes attempts until the link is stopped, or one of its failures is final (CT 11.5, S57, S58).
func (l *link) run() error {
	for attempts := 0; ; {
		opened, err := l.attempt(attempts > 0)
		if l.ctx.Err() != nil {
			return context.Cause(l.ctx)
		}
		var rejected *rejectedError
		if errors.As(err, &rejected) {
			return rejected.StatusError
		}
		if opened {
			attempts = 0
		}
		if attempts == maxReconnects {
			return &lostError{err}
		}
		pause := min(time.Second<<attempts, maxWait)
		attempts++
		l.c.options.Logger.Warn("stream lost", "attempt", attempts, "wait", pause, "err", err)
		if l.c.options.OnReconnect != nil {
			l.c.options.OnReconnect(attempts, pause)
		}
		if !sleep(l.ctx, pause) {
			return context.Cause(l.ctx)
		}
	}
}

// A lostError is ErrMaxReconnects with the error of the last attempt.
type lostError struct{ last error }

func (e *lostError) Error() string   { return ErrMaxReconnects.Error() }
func (e *lostError) Unwrap() []error { return []error{ErrMaxReconnects, e.last} }

// A rejectedError is the answer to a registration that makes no sense to repeat.
type rejectedError struct{ *StatusError }

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt registers the tools and reads one stream until it is lost. It reports whether the stream was opened.
func (l *link) attempt(again bool) (opened bool, err error) {
	if err := l.register(); err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	defer l.set(false, nil)
	onOpen := func() {
		opened = true
		if again {
			l.running.Go(func() { l.check(ctx) })
		}
	}
	if l.c.options.Transport == WebSocket {
		err = l.readSocket(ctx, onOpen)
	} else {
		err = l.readEvents(ctx, onOpen)
	}
	return opened, err
}

func (l *link) set(connected bool, socket *websocket.Conn) {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	l.connected, l.socket = connected, socket
}

// open returns the socket if there is one.
func (l *link) open() *websocket.Conn {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	return l.socket
}

func (l *link) register() error {
	unlock, err := l.c.lockRegistration(l.ctx)
	if err != nil {
		return err
	}
	defer unlock()
	err = l.c.sendTools(l.ctx)
	var status *StatusError
	if errors.As(err, &status) && status.Status >= 400 && status.Status < 500 {
		return &rejectedError{status}
	}
	if err == nil {
		l.set(true, nil)
	}
	return err
}

// check registers the tools once more if the server's clean-up after the old stream has removed some (S59).
func (l *link) check(ctx context.Context) {
	if !sleep(ctx, checkAfter) {
		return
	}
	var listed []json.RawMessage
	err := l.c.exchange(ctx, http.MethodGet, "/client-tools/tools/"+encode(l.c.ID()), nil, &listed)
	if err == nil && len(listed) < len(l.c.definitions()) {
		err = l.c.sendIfConnected(ctx, l.c.sendTools)
	}
	if err != nil && ctx.Err() == nil {
		l.c.report(err)
	}
}

func (l *link) readEvents(ctx context.Context, onOpen func()) error {
	// A server may send the head with the first event only (CT D39), so the request decides when the link is up.
	requested := &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
		if info.Err == nil {
			l.isUp()
		}
	}}
	response, err := l.c.do(httptrace.WithClientTrace(ctx, requested), http.MethodGet, "/client-tools/pending/"+encode(l.c.ID()), nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	onOpen()
	events := newEventReader(response.Body)
	for {
		name, data, err := events.next()
		if err != nil {
			return err
		}
		if name == "tool-request" {
			l.dispatch(data, ErrInvalidRequest)
		}
	}
}

// A message is what the client sends through the socket.
type message struct {
	Type      string       `json:"type"`
	Tools     []Definition `json:"tools,omitzero"`
	RequestID string       `json:"requestID,omitzero"`
	*Progress
	Result json.RawMessage `json:"result,omitzero"`
}

func (l *link) readSocket(ctx context.Context, onOpen func()) error {
	dialing, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	address := "ws" + l.c.base[len("http"):] + "/client-tools/ws/" + encode(l.c.ID())
	conn, _, err := websocket.Dial(dialing, address, &websocket.DialOptions{HTTPClient: l.c.http, HTTPHeader: l.c.header()})
	if err != nil {
		return err
	}
	conn.SetReadLimit(maxMessage)
	ending, lost := context.WithCancel(ctx)
	defer lost()
	l.running.Go(func() { // a reader with a context would end the connection without the closing handshake
		<-ending.Done()
		conn.Close(websocket.StatusNormalClosure, "")
	})
	if err := write(ctx, conn, message{Type: "register", Tools: l.c.definitions()}); err != nil {
		return err
	}
	l.set(true, conn)
	onOpen()
	l.isUp()
	for {
		kind, data, err := conn.Read(context.Background())
		if err != nil {
			return err
		}
		l.receive(kind, data)
	}
}

func write(ctx context.Context, conn *websocket.Conn, m message) error {
	data, err := marshal(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, data)
}

// receive handles a message of the socket. Those with another type, such as "registered", need no reaction.
func (l *link) receive(kind websocket.MessageType, data []byte) {
	m := members(data)
	name, isText := text(m["type"])
	problem, hasProblem := text(m["error"])
	switch {
	case kind != websocket.MessageText, !isText, name == "error" && !hasProblem:
		l.c.report(ErrInvalidMessage)
	case name == "error":
		l.c.report(errors.New(problem))
	case name == "request":
		l.dispatch(m["request"], ErrInvalidMessage)
	}
}

// dispatch runs a call in a goroutine of its own. It reports invalid if data is no call.
func (l *link) dispatch(data []byte, invalid error) {
	call, ok := l.parse(data)
	if !ok {
		l.c.report(invalid)
		return
	}
	select {
	case l.calls <- struct{}{}:
	case <-l.ctx.Done():
		return
	}
	l.running.Go(func() {
		defer func() { <-l.calls }()
		l.answer(call)
	})
}

func (c *Client) report(err error) {
	c.options.Logger.Warn("client tools", "err", err)
	if c.options.OnError != nil {
		c.options.OnError(err)
	}
}
