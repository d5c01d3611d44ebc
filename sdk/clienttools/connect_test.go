package clienttools_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

// S56: bodies, key order, header fields and paths.
func TestRequestsAreAsTheContractSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		heads := map[string]http.Header{}
		transport := s.client.Transport
		s.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			heads[r.Method+" "+r.URL.EscapedPath()] = r.Header.Clone()
			return transport.RoundTrip(r)
		})
		t.Cleanup(transport.(*http.Transport).CloseIdleConnections)
		c := s.newClient(clienttools.Options{ClientID: "a/b ü!+:", SecretKey: "k", Header: http.Header{"x-mine": {"1"}}})
		must(t, c.Connect(t.Context()))
		synctest.Wait() // the server has seen the request for the stream
		must(t, c.Register(t.Context(), echo("<client_x>")))
		must(t, c.Unregister(t.Context(), "<client_x>"))
		s.want(
			register+` {"clientID":"a/b ü!+:","tools":[]}`,
			"GET /client-tools/pending/a%2Fb%20%C3%BC!%2B%3A",
			register+` {"clientID":"a/b ü!+:","tools":[{"id":"<client_x>","description":"d","parameters":{}}]}`,
			`DELETE /client-tools/unregister {"clientID":"a/b ü!+:","toolIDs":["client_a/b ü!+:_<client_x>"]}`,
		)
		for request, h := range heads {
			if h.Get("X-Secret-Key") != "k" || h.Get("X-Mine") != "1" {
				t.Errorf("%s: fields %v", request, h)
			}
			wantType, wantAccept := "application/json", ""
			if request == "GET /client-tools/pending/a%2Fb%20%C3%BC!%2B%3A" {
				wantType, wantAccept = "", "text/event-stream"
			}
			if h.Get("Content-Type") != wantType || h.Get("Accept") != wantAccept {
				t.Errorf("%s: Content-Type %q and Accept %q, want %q and %q", request, h.Get("Content-Type"), h.Get("Accept"), wantType, wantAccept)
			}
		}
		if len(heads) != 3 {
			t.Errorf("%d requests, want 3", len(heads))
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestToolsRegisteredBeforeConnectAreSentByIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		c := s.newClient(clienttools.Options{})
		other := echo("echo")
		other.Description = "replaced"
		must(t, c.Register(t.Context(), other, echo("gone")))
		must(t, c.Register(t.Context(), echo("echo")))
		must(t, c.Unregister(t.Context(), "gone"))
		s.want()
		must(t, c.Connect(t.Context()))
		must(t, c.Connect(t.Context())) // it is connected
		s.want(registerEcho, pending)
		must(t, c.Close())
		must(t, c.Register(t.Context(), echo("later")))
		s.want()
	})
}

// S57: connect does not wait for the head of the stream (CT D39).
func TestConnectDoesNotWaitForTheHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		transport := s.client.Transport
		s.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			response, err := transport.RoundTrip(r)
			if r.Method == http.MethodGet && err == nil {
				select {
				case <-time.After(30 * time.Second):
				case <-r.Context().Done():
				}
			}
			return response, err
		})
		t.Cleanup(transport.(*http.Transport).CloseIdleConnections)
		c := s.newClient(clienttools.Options{})
		start := time.Now()
		must(t, c.Connect(t.Context()))
		if waited := time.Since(start); waited != 0 {
			t.Errorf("Connect took %s", waited)
		}
		s.want(registerNone, pending)
	})
}

// S57: a failed first attempt is repeated, and Connect waits for it.
func TestConnectRepeatsAFailedRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		s.set(register, response{status: 500}, response{status: 503}, response{})
		c := s.newClient(clienttools.Options{})
		start := time.Now()
		must(t, c.Connect(t.Context()))
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("Connect took %s, want 3s", waited)
		}
		s.want(registerNone, registerNone, registerNone, pending)
		s.reported(nil, []string{"1 1s", "2 2s"})
	})
}

// S58: after five more attempts, Connect fails, and the client is disconnected; Connect begins again.
func TestConnectGivesUpAfterFiveMoreAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		s.set(register, response{500, `{"name":"UnknownError","data":{"message":"no space"}}`})
		c := s.newClient(clienttools.Options{})
		start := time.Now()
		err := c.Connect(t.Context())
		if !errors.Is(err, clienttools.ErrMaxReconnects) || err.Error() != "Max reconnection attempts reached" {
			t.Errorf("Connect: %v, want ErrMaxReconnects", err)
		}
		var status *clienttools.StatusError
		if !errors.As(err, &status) || *status != (clienttools.StatusError{Status: 500, Message: "no space"}) {
			t.Errorf("the last failure is %+v", status)
		}
		if waited := time.Since(start); waited != 31*time.Second {
			t.Errorf("gave up after %s, want 31s", waited)
		}
		s.want(registerNone, registerNone, registerNone, registerNone, registerNone, registerNone)
		s.reported([]string{"Max reconnection attempts reached"}, []string{"1 1s", "2 2s", "3 4s", "4 8s", "5 16s"})
		must(t, c.Register(t.Context(), echo("echo")))
		s.want()
		s.set(register, response{})
		must(t, c.Connect(t.Context()))
		s.want(registerEcho, pending)
	})
}

// S57: a registration that is answered with 400 to 499 is not repeated, at first or later.
func TestARejectedRegistrationIsFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		rejected := response{429, `{"error":{"code":"RATE_LIMITED","message":"Too many tools"}}`}
		want := clienttools.StatusError{Status: 429, Message: "Too many tools"}
		s.set(register, rejected)
		c := s.newClient(clienttools.Options{})
		var status *clienttools.StatusError
		if err := c.Connect(t.Context()); !errors.As(err, &status) || *status != want {
			t.Errorf("Connect: %v", err)
		}
		s.want(registerNone)
		s.reported([]string{"429: Too many tools"}, nil)

		s.set(register, response{}, rejected)
		must(t, c.Connect(t.Context()))
		s.lose()
		time.Sleep(time.Minute)
		s.want(registerNone, pending, registerNone)
		s.reported([]string{"429: Too many tools"}, []string{"1 1s"})
		if s.set(register, response{}); c.Connect(t.Context()) != nil {
			t.Error("Connect does not begin again")
		}
	})
}

// S58: the counter is reset when the head has arrived, and a status other than 200 is a lost stream.
func TestASuccessfulAttemptResetsTheCounter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		s.set(list, response{body: `[]`})
		s.set(pending, response{status: 204}, response{status: 503}, response{})
		c := s.newClient(clienttools.Options{})
		must(t, c.Connect(t.Context()))
		time.Sleep(time.Minute)
		s.reported(nil, []string{"1 1s", "2 2s"})
		s.lose()
		time.Sleep(time.Minute)
		s.lose()
		time.Sleep(time.Minute)
		s.reported(nil, []string{"1 1s", "1 1s"})
		if s.opened != 3 {
			t.Errorf("%d streams were opened, want 3", s.opened)
		}
	})
}

// S59: one second after a reconnect, the client registers again if tools are missing.
func TestToolsThatTheCleanUpRemovedAreRegisteredAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		listed response
		more   []string
		errors []string
	}{
		"missing":  {response{body: `[]`}, []string{registerEcho}, nil},
		"complete": {response{body: `[{"id":"client_c1_echo"}]`}, nil, nil},
		"refused":  {response{500, `{"error":"no"}`}, nil, []string{"500: no"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScript(t)
				s.set(list, tt.listed)
				c := s.newClient(clienttools.Options{})
				must(t, c.Register(t.Context(), echo("echo")))
				must(t, c.Connect(t.Context()))
				time.Sleep(5 * time.Second)
				s.want(registerEcho, pending) // no check after the first connection
				s.lose()
				time.Sleep(1999 * time.Millisecond) // the wait of a second, and almost another one
				s.want(registerEcho, pending)
				time.Sleep(time.Millisecond)
				s.want(append([]string{list}, tt.more...)...)
				time.Sleep(time.Minute)
				s.want()
				s.reported(tt.errors, []string{"1 1s"})
			})
		})
	}
}

func TestTheContextOfConnectEndsItsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		s.set(register, response{status: 500})
		c := s.newClient(clienttools.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := c.Connect(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Connect: %v, want DeadlineExceeded", err)
		}
		time.Sleep(time.Minute)
		s.want(registerNone, registerNone)
		s.reported(nil, []string{"1 1s", "2 2s"})
	})
}

func TestCloseEndsConnectAndItsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		s.set(register, response{status: 500})
		c := s.newClient(clienttools.Options{})
		connected := make(chan error)
		go func() { connected <- c.Connect(t.Context()) }()
		synctest.Wait()
		must(t, c.Close())
		if err := <-connected; !errors.Is(err, clienttools.ErrClosed) {
			t.Errorf("Connect: %v, want ErrClosed", err)
		}
		time.Sleep(time.Minute)
		s.want(registerNone)
	})
}

// A change during the first registration is sent as well, after it.
func TestAChangeDuringTheRegistrationIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		transport := s.client.Transport
		held := make(chan struct{})
		s.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			response, err := transport.RoundTrip(r)
			<-held
			return response, err
		})
		t.Cleanup(transport.(*http.Transport).CloseIdleConnections)
		c := s.newClient(clienttools.Options{})
		done := make(chan error, 2)
		go func() { done <- c.Connect(t.Context()) }()
		synctest.Wait() // the registration is sent, and not answered
		go func() { done <- c.Register(t.Context(), echo("echo")) }()
		synctest.Wait()
		s.want(registerNone)
		close(held)
		must(t, errors.Join(<-done, <-done))
		synctest.Wait()
		got := s.requests
		if len(got) != 2 || got[0] != pending && got[1] != pending || got[0] != registerEcho && got[1] != registerEcho {
			t.Errorf("then %q", got)
		}
	})
}

func TestInvalidOptionsAreExplained(t *testing.T) {
	for _, tt := range []struct {
		url     string
		options clienttools.Options
		want    string
	}{
		{"localhost:3000", clienttools.Options{}, `server URL "localhost:3000": want http://host:port or https://host:port`},
		{"http://h?x=1", clienttools.Options{}, `server URL "http://h?x=1": want http://host:port or https://host:port`},
		{"http://h", clienttools.Options{Transport: "ws"}, `transport "ws": want "sse" or "websocket"`},
		{"http://h", clienttools.Options{Timeout: -1}, "timeout -1ns: want more than 0"},
	} {
		if _, err := clienttools.New(tt.url, &tt.options); err == nil || err.Error() != tt.want {
			t.Errorf("New(%q): %v, want %s", tt.url, err, tt.want)
		}
	}
}
