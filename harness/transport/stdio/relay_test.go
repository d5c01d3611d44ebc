//go:build unix

package stdio

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// played runs a relay against a peer, over real sockets. It returns how the program ended, and what it wrote.
func played(t *testing.T, r *Relay, script func(p *Peer)) (status int, signal, out string, s transcript.Stream) {
	t.Helper()
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		conn, input, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+Upgrade+"\r\n\r\n")
		p := Accept(conn, input.Reader, nil)
		defer p.Close()
		script(p)
		p.AwaitEnd(t.Context())
		p.Record(&s)
	}))
	defer server.Close()
	var b strings.Builder
	r.Out, r.Errors = &b, &b
	status, signal, err := r.Run(t.Context(), server.URL, Start{Args: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	<-ended
	return status, signal, b.String(), s
}

// shown returns the events as texts, what was sent with a >.
func shown(s transcript.Stream) (out []string) {
	for _, ev := range s.Events {
		text := string(ev.Item) + " " + ev.Data
		if ev.Sent {
			text = "> " + text
		}
		out = append(out, text)
	}
	return out
}

func awaitItem(t *testing.T, p *Peer, item transcript.Item) {
	if _, err := p.Await(t.Context(), 0, func(ev *transcript.Event) bool { return !ev.Sent && ev.Item == item }); err != nil {
		t.Errorf("%s: %v", item, err)
	}
}

func TestARelayIsTheProgramThatAPeerPlays(t *testing.T) {
	status, signal, out, s := played(t, &Relay{In: strings.NewReader("one\ntwo\r\nlast")}, func(p *Peer) {
		awaitItem(t, p, transcript.ItemEOF)
		p.SendLine(t.Context(), []byte("out"))
		p.SendError(t.Context(), []byte("err"))
		p.SendBytes(t.Context(), []byte("part"))
		p.Exit(t.Context(), 3, "")
	})
	if status != 3 || signal != "" || out != "out\nerr\npart" {
		t.Errorf("ended with %d %q, after %q", status, signal, out)
	}
	want := []string{"line one", "line two", "line last", "eof ", "> line out", "> stderr err", "> bytes part", `> exit {"status":3}`}
	if diff := cmp.Diff(want, shown(s)); diff != "" || s.Ended != transcript.EndedByServer || s.Failure != nil {
		t.Errorf("ended by %s, %v; events (-want +got):\n%s", s.Ended, s.Failure, diff)
	}
	if s.Events[1].Framing != framingCRLF || s.Events[2].Framing != framingEnd {
		t.Errorf("framings %q, %q", s.Events[1].Framing, s.Events[2].Framing)
	}
}

// A signal ends the relay, and the peer hears of it. A relay that is gone without a word was killed.
func TestHowATargetEndsAProgram(t *testing.T) {
	silent, write := io.Pipe()
	defer write.Close()
	signals := make(chan string, 1)
	signals <- "SIGTERM"
	_, signal, _, s := played(t, &Relay{In: silent, Signals: signals}, func(*Peer) {})
	if diff := cmp.Diff([]string{"signal SIGTERM"}, shown(s)); diff != "" || signal != "SIGTERM" {
		t.Errorf("ended by %q; events (-want +got):\n%s", signal, diff)
	}
	near, far := net.Pipe()
	p := Accept(near, near, nil)
	defer p.Close()
	io.WriteString(far, `{"item":"bytes","data":"aGFsZg=="}`+"\n")
	far.Close()
	var killed transcript.Stream
	p.AwaitEnd(t.Context())
	p.Record(&killed)
	if diff := cmp.Diff([]string{"line half", "signal SIGKILL"}, shown(killed)); diff != "" {
		t.Errorf("a killed relay (-want +got):\n%s", diff)
	}
}

// At the end of a scenario, the stub closes the connection, and the relay ends whatever its own input does.
func TestARelayEndsWithItsStub(t *testing.T) {
	silent, write := io.Pipe()
	defer write.Close()
	status, _, _, s := played(t, &Relay{In: silent}, func(p *Peer) { p.Close() })
	if status != 1 || s.Ended != transcript.EndedByClient {
		t.Errorf("status %d; ended by %s", status, s.Ended)
	}
}

func TestARelayWithoutAStubSaysWhy(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(501)
		io.WriteString(w, "no rule answers it")
	}))
	defer refusing.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for url, want := range map[string]string{refusing.URL: "the stub has no program for this: no rule answers it", gone.URL: "the stub is not running: "} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, _, err := (&Relay{In: strings.NewReader("")}).Run(ctx, url, Start{})
		cancel()
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
