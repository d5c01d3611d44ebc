package signin

import (
	"crypto/subtle"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/server/httpapi/query"
)

// These limit who calls back (decision X54).
const (
	maxConnections = 16
	maxHead        = 16 << 10 // bytes
)

const callbackPath = "/oauth_callback"

// A callback listens for the answer of the user.
type callback struct {
	port    int
	state   string
	server  *http.Server
	served  chan struct{} // closed when no connection is accepted any more
	outcome chan outcome  // has at most one

	once sync.Once // for the outcome
}

// An outcome is the code of the user, or why there is none.
type outcome struct {
	code string
	err  error
}

// listen listens on a free port. The caller closes the callback.
func listen(state string, perConnection time.Duration) (*callback, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &callback{port: ln.Addr().(*net.TCPAddr).Port, state: state, served: make(chan struct{}), outcome: make(chan outcome, 1)}
	c.server = &http.Server{
		Handler: http.HandlerFunc(c.answer), MaxHeaderBytes: maxHead - 4096, // the library adds as much
		DisableGeneralOptionsHandler: true, ErrorLog: log.New(io.Discard, "", 0),
	}
	c.server.SetKeepAlivesEnabled(false)
	few := &fewConnections{Listener: ln, perConnection: perConnection, places: make(chan struct{}, maxConnections), closed: make(chan struct{})}
	go func() {
		defer close(c.served)
		_ = c.server.Serve(few)
	}()
	return c, nil
}

func (c *callback) redirectURI() string {
	return "http://localhost:" + strconv.Itoa(c.port) + callbackPath
}

// close stops listening, and ends all connections. It can be called again.
func (c *callback) close() {
	_ = c.server.Close()
	<-c.served
}

// answer answers a request. The order of its checks is that of decision X54.
func (c *callback) answer(w http.ResponseWriter, r *http.Request) {
	port := ":" + strconv.Itoa(c.port)
	code, failure := parameter(r.URL.RawQuery, "code"), parameter(r.URL.RawQuery, "error")
	state := parameter(r.URL.RawQuery, "state")
	switch {
	case r.Host != "localhost"+port && r.Host != "127.0.0.1"+port:
		reply(w, http.StatusForbidden, "This host is not served here.\n")
	case r.URL.EscapedPath() != callbackPath:
		reply(w, http.StatusNotFound, "There is no such page.\n")
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		reply(w, http.StatusMethodNotAllowed, "Only GET is served here.\n")
	case failure != "":
		c.finish(w, http.StatusBadRequest, "The sign-in was refused. You can close this page.\n", outcome{err: denied})
	case code == "" || state == "":
		reply(w, http.StatusBadRequest, "The code or the state is missing.\n")
	case subtle.ConstantTimeCompare([]byte(state), []byte(c.state)) != 1:
		c.finish(w, http.StatusBadRequest, "This is the answer to another sign-in. You can close this page.\n", outcome{err: forged})
	default:
		c.finish(w, http.StatusOK, page, outcome{code: code})
	}
}

const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Sign-in</title><p>The answer has arrived. You can close this page.</html>
`

// finish answers, and ends the wait. Only the first answer counts.
func (c *callback) finish(w http.ResponseWriter, status int, text string, o outcome) {
	first := false
	c.once.Do(func() { first = true })
	if !first {
		reply(w, http.StatusBadRequest, "This sign-in has its answer already. You can close this page.\n")
		return
	}
	reply(w, status, text)
	_ = http.NewResponseController(w).Flush() // before the connection is ended
	c.outcome <- o
}

// reply answers with a text, or with a page.
func reply(w http.ResponseWriter, status int, text string) {
	for name, value := range map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "Content-Length": strconv.Itoa(len(text)), "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'", "Connection": "close",
	} {
		w.Header().Set(name, value)
	}
	if status == http.StatusOK {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// parameter returns the first value of a parameter of a query, or "".
func parameter(raw, name string) string {
	if values := query.Values(raw, name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// fewConnections is a listener with a limited number of connections, of limited time.
type fewConnections struct {
	net.Listener
	perConnection time.Duration
	places        chan struct{}
	closed        chan struct{}
	once          sync.Once
}

// Accept waits for a place, and for a connection.
func (l *fewConnections) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	timer := time.AfterFunc(l.perConnection, func() { conn.Close() })
	return &shortConn{Conn: conn, release: sync.OnceFunc(func() {
		timer.Stop()
		<-l.places
	})}, nil
}

// Close stops accepting.
func (l *fewConnections) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// A shortConn gives its place back when it is closed.
type shortConn struct {
	net.Conn
	release func()
}

func (c *shortConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
