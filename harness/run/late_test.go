package run

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// afterwards is a server that sends a body after its response to HEAD, as soon as the client has read the head. Before
// that, it answers no other request.
func afterwards(t *testing.T) *Target {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked, written := make(chan struct{}), make(chan struct{})
	serve := func(conn net.Conn) {
		defer conn.Close()
		in := bufio.NewReader(conn)
		for r, err := http.ReadRequest(in); err == nil; r, err = http.ReadRequest(in) {
			if r.Method == "HEAD" {
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
				<-asked
				io.WriteString(conn, "hello")
				close(written)
				continue
			}
			close(asked)
			<-written
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	c := httpwire.NewClient(&url.URL{Scheme: "http", Host: l.Addr().String()}, nil)
	t.Cleanup(func() {
		c.Close()
		l.Close()
		<-done
	})
	return &Target{Name: "late", Client: c}
}

func TestABodyThatComesLateIsNoAnswerToTheNextRequest(t *testing.T) {
	s := story(t, "steps:\n  - http: HEAD /a\n  - http: GET /b\n")
	ts := Scenario(t.Context(), s, []*Target{afterwards(t)}, options())
	first, second := ts[0].Steps[0].Exchanges[0], ts[0].Steps[1].Exchanges[0]
	const want = `5 bytes follow the response: "hello"`
	if first.Failure == nil || first.Failure.Text != want {
		t.Errorf("HEAD: %+v, want %s", first.Failure, want)
	}
	if second.Failure != nil || second.Response.Status != 200 {
		t.Errorf("GET: %+v", second.Failure)
	}
}
