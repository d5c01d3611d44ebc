//go:build unix

package target

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// A doorman accepts one connection after another. It reads the request and then calls a function that writes the
// response.
type doorman struct {
	url      *url.URL
	requests chan *http.Request
}

// newDoorman returns a doorman that answers every connection in the same way. The connection is closed when answer
// returns.
func newDoorman(t *testing.T, answer func(net.Conn)) *doorman {
	t.Helper()
	slow(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &doorman{url: &url.URL{Scheme: "http", Host: listener.Addr().String()}, requests: make(chan *http.Request, 1000)}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				req, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					t.Errorf("request of the probe: %v", err)
					return
				}
				d.requests <- req
				answer(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		open.Wait()
	})
	return d
}

func says(text string) func(net.Conn) {
	return func(conn net.Conn) { io.WriteString(conn, text) }
}

func TestAProbeCountsTheWantedStatusAndNoOther(t *testing.T) {
	for _, row := range []struct {
		answer string
		ready  Ready
		want   string // the error
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", Ready{}, ""},
		{"HTTP/1.1 204 No Content\r\n\r\n", Ready{}, ""},
		{"HTTP/1.0 200 OK\r\n\r\nwithout a length", Ready{}, ""},
		{"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ncut short", Ready{}, ""},
		{"HTTP/1.1 200 OK\r\n\r\n", Ready{Status: 204}, "200 OK; 204 is wanted: correct ready, or the server"},
		{"HTTP/1.1 401 Unauthorized\r\n\r\n", Ready{Status: 401}, ""},
		{"HTTP/1.1 503 Busy\r\n\r\n", Ready{}, "503 Service Unavailable; 200 to 299 is wanted: correct ready, or the server"},
		{"HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n", Ready{}, "302 Found; 200 to 299 is wanted: correct ready, or the server"},
		{"HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n", Ready{Status: 302}, ""},
		{"", Ready{}, "the connection was closed before an answer"},
		{"HTTP/1.1 200 OK\r\nHalf: a\r\n", Ready{}, "the connection was closed before an answer"},
		{"HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Endless: 1\r\n", 1<<16), Ready{}, `malformed MIME header line: "X-Endless: 1\r"`},
		{"SSH-2.0-OpenSSH_9.2\r\n", Ready{}, `malformed HTTP response "SSH-2.0-OpenSSH_9.2"`},
	} {
		d := newDoorman(t, says(row.answer))
		got := ""
		row.ready.Probe = hang
		if err := row.ready.probe(t.Context(), d.url); err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("probe of %.50q: %q, want %q", row.answer, got, row.want)
		}
	}
}

func TestAProbeAsksForThePathUnderTheTargetsOwn(t *testing.T) {
	d := newDoorman(t, says("HTTP/1.1 200 OK\r\n\r\n"))
	for _, row := range []struct{ base, path, want string }{
		{"", "/status", "/status"},
		{"/v1", "/status", "/v1/status"},
		{"/v1/", "/a%2Fb/?deep=1&x", "/v1/a%2Fb/?deep=1&x"},
	} {
		base := *d.url
		base.Path = row.base
		ready := Ready{Path: row.path, Probe: hang}
		if err := ready.await(t.Context(), &base, agree); err != nil {
			t.Errorf("await: %v", err)
		}
		req := <-d.requests
		if req.RequestURI != row.want || req.Method != "GET" {
			t.Errorf("asked %s %s, want GET %s", req.Method, req.RequestURI, row.want)
		}
		if !req.Close {
			t.Error("the probe would keep its connection")
		}
	}
}

func TestAProbeIsBounded(t *testing.T) {
	held := make(chan struct{})
	d := newDoorman(t, func(net.Conn) { <-held })
	defer close(held)
	err := Ready{Probe: 10 * time.Millisecond}.probe(t.Context(), d.url)
	if err == nil || err.Error() != "no answer within 10ms: name a path under ready that answers sooner, or correct the server" {
		t.Errorf("probe: %v, want a bound of 10ms and what to do", err)
	}
}

// early is a context whose deadline passes for the network a moment before it passes for the context.
type early struct{ context.Context }

func (early) Deadline() (time.Time, bool) { return time.Unix(1, 0), true }

func TestTheDeadlineOfTheNetworkIsNotReported(t *testing.T) {
	d := newDoorman(t, says("HTTP/1.1 404 Not Found\r\n\r\n"))
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	go cancel(over)
	if err := (Ready{Probe: hang}).probe(early{ctx}, d.url); !errors.Is(err, over) {
		t.Errorf("probe: %v, want what the context says", err)
	}
}

func TestAwaitEndsInTheMiddleOfAProbe(t *testing.T) {
	held := make(chan struct{})
	ctx, cancel := context.WithCancelCause(t.Context())
	crash := errors.New("crashed")
	d := newDoorman(t, func(net.Conn) {
		cancel(crash)
		<-held
	})
	defer close(held)
	err := Ready{Path: "/status", Probe: hang}.await(ctx, d.url, agree)
	if want := "crashed: GET " + d.url.String() + "/status: no answer yet"; !errors.Is(err, crash) || err.Error() != want {
		t.Errorf("await: %v, want %s", err, want)
	}
}

func TestAMissingListenerIsReportedPlainly(t *testing.T) {
	slow(t)
	err := Ready{Probe: hang}.probe(t.Context(), &url.URL{Scheme: "http", Host: freePort(t).address()})
	if err == nil || err.Error() != "connection refused" {
		t.Errorf("probe: %v, want connection refused", err)
	}
}

func agree() error { return nil }

// Another process has taken the port, and responds as the target should.
func TestOnlyTheTargetMayAnswerOnItsPort(t *testing.T) {
	slow(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who listens")
	}
	for _, anyOwner := range []bool{false, true} {
		c := newReportServer(t)
		spec := c.roleSpec("squatted")
		spec.Ready.AnyOwner = anyOwner
		ctx, giveUp := context.WithCancel(t.Context())
		type started struct {
			target *Target
			err    error
		}
		result := make(chan started, 1)
		go func() {
			target, err := Start(ctx, spec, nil)
			result <- started{target, err}
		}()
		listener, err := net.Listen("tcp", c.awaitReport("squatted").readLine())
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		squatter := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if asked++; asked == 2 { // the first response has been rejected
				giveUp()
			}
		})}
		go squatter.Serve(listener)
		got := <-result
		squatter.Close()
		giveUp()
		switch {
		case anyOwner && got.err == nil:
			if why := got.target.Unchecked(); why != "ready: {owner: any}" {
				t.Errorf("Unchecked: %q", why)
			}
			got.target.Stop(cancelled())
		case anyOwner || got.err == nil || !strings.Contains(got.err.Error(), "which is not the target's, answers there"):
			t.Errorf("any owner: %t: %v", anyOwner, got.err)
		}
	}
}

func TestATargetAnswersOnItsOwnPort(t *testing.T) {
	for _, role := range []string{"server", "astray", "daemon"} {
		spec := roleSpec(role)
		spec.Stop.Grace = time.Millisecond
		target := start(t, spec)
		if why := target.Unchecked(); (why == "") != (runtime.GOOS == "linux") {
			t.Errorf("%s: Unchecked: %q", role, why)
		}
		if err := target.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
