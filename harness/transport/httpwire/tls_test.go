package httpwire

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// secure returns the URL of a TLS server, and a configuration that trusts it.
func secure(t *testing.T, serve func(n int, conn *tls.Conn, r *bufio.Reader)) (*url.URL, *tls.Config) {
	t.Helper()
	lender := httptest.NewTLSServer(nil) // its certificate is used
	defer lender.Close()
	roots := x509.NewCertPool()
	roots.AddCert(lender.Certificate())
	server := &tls.Config{Certificates: lender.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}
	base := loopback(t, func(n int, conn *net.TCPConn, _ *bufio.Reader) {
		secure := tls.Server(&corked{Conn: conn}, server)
		serve(n, secure, bufio.NewReader(secure))
	})
	base.Scheme = "https"
	return base, &tls.Config{RootCAs: roots, ServerName: "example.com"}
}

func TestTLS(t *testing.T) {
	base, config := secure(t, func(n int, conn *tls.Conn, r *bufio.Reader) {
		for readHead(r) != "" {
			io.WriteString(conn, answer(n))
		}
		if got := conn.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
			t.Errorf("speaks %q", got)
		}
	})
	c := dialer(t, base, &Options{TLS: config})
	checkBody(t, c, "GET", "a")
	checkBody(t, c, "POST", "a")
	if config.NextProtos != nil {
		t.Error("the caller's configuration was changed")
	}
}

func TestACertificateThatIsNotTrusted(t *testing.T) {
	base, _ := secure(t, func(_ int, conn *tls.Conn, r *bufio.Reader) { readHead(r) })
	fails(t, do(t, dialer(t, base, nil), "GET"), transcript.FailConnect, transcript.PhaseConnect, "TLS handshake: tls: failed to verify certificate")
}

func TestTLSWithAServerThatDoesNotSpeakIt(t *testing.T) {
	base := loopback(t, func(_ int, conn *net.TCPConn, r *bufio.Reader) {
		io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		r.ReadByte()
	})
	base.Scheme = "https"
	fails(t, do(t, dialer(t, base, nil), "GET"), transcript.FailConnect, transcript.PhaseConnect, "TLS handshake")
}

func TestTLSThatIsCut(t *testing.T) {
	base, config := secure(t, func(_ int, conn *tls.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(conn, ok+"\r\nabc")
		io.WriteString(conn.NetConn(), "\x17\x03\x03") // the beginning of a record
	})
	ex := do(t, dialer(t, base, &Options{TLS: config}), "GET")
	fails(t, ex, closed, inBody, "the connection was closed inside a TLS record after 3 bytes")
}

func TestATLSConnectionThatHasReadAheadIsNotUsed(t *testing.T) {
	base, config := secure(t, func(n int, conn *tls.Conn, r *bufio.Reader) {
		readHead(r)
		cork := conn.NetConn().(*corked)
		cork.on = true
		io.WriteString(conn, answer(n))
		io.WriteString(conn, ok) // in its own record, but in the same segment
		cork.flush()
		readHead(r)
	})
	c := dialer(t, base, &Options{TLS: config})
	checkBody(t, c, "POST", "a")
	checkBody(t, c, "POST", "b")
}

// A corked connection holds back what is written until it is flushed.
type corked struct {
	net.Conn
	on   bool
	held []byte
}

func (c *corked) Write(p []byte) (int, error) {
	if !c.on {
		return c.Conn.Write(p)
	}
	c.held = append(c.held, p...)
	return len(p), nil
}

func (c *corked) flush() {
	c.on = false
	c.Conn.Write(c.held)
}
