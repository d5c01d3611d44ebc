package httpwire

import (
	"bufio"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

const (
	streamHead    = ok + "Content-Type: text/event-stream; charset=utf-8\r\n"
	chunkedStream = streamHead + "Transfer-Encoding: chunked\r\n\r\n"
)

// stream opens an event stream, and fails the test when the response is not one.
func stream(t *testing.T, c *Client, start time.Time) (*transcript.Exchange, *Stream) {
	t.Helper()
	ex, s, err := c.stream(t.Context(), start, &Request{Method: "GET", Target: "/event"}, nil)
	if err != nil || s == nil {
		t.Fatalf("Stream: %+v, %v, %v", ex, s, err)
	}
	t.Cleanup(func() { s.Close() })
	return ex, s
}

func record(s *Stream) transcript.Stream {
	var out transcript.Stream
	s.Record(&out)
	return out
}

func TestAStreamIsWatchedWithOffsetsOfTheExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const second = time.Second
		c := piped(t, Options{}, func(conn net.Conn) {
			readHead(bufio.NewReader(conn))
			time.Sleep(second)
			io.WriteString(conn, chunkedStream+"9\r\ndata: a\n\n\r\n")
			time.Sleep(second)
			io.WriteString(conn, "4;ext\r\ndata\r\n3\r\n: b\r\n")
			time.Sleep(second)
			io.WriteString(conn, "2\r\n\n\n\r\n0\r\n\r\n")
		})
		ex, s := stream(t, c, time.Now().Add(-10*second))
		fails(t, ex, none, "", "")
		if ex.Head != 11*second || ex.Done != ex.Head || ex.Response.Body.Size != 0 {
			t.Errorf("exchange %+v", ex)
		}
		if i, err := s.Await(t.Context(), 1, func(ev *transcript.Event) bool { return ev.Data == "b" }); i != 1 || err != nil {
			t.Errorf("Await: %d, %v", i, err)
		}
		if err := s.AwaitEnd(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := transcript.Stream{Ended: transcript.EndedByServer, Until: 13 * second, Events: []transcript.Event{
			{Name: "message", Data: "a", Framing: "data: •\n\n", At: 11 * second},
			{Name: "message", Data: "b", Framing: "data: •\n\n", At: 13 * second},
		}}
		if diff := cmp.Diff(want, record(s)); diff != "" {
			t.Errorf("stream (-want +got):\n%s", diff)
		}
	})
}

func TestHowAStreamEnds(t *testing.T) {
	for _, tc := range []struct {
		name  string
		says  string
		ended transcript.Ending
		kind  transcript.FailureKind
		text  string
	}{
		{"with the last chunk", chunkedStream + "9\r\ndata: a\n\n\r\n0\r\n\r\n", transcript.EndedByServer, none, ""},
		{"with the connection", streamHead + "\r\ndata: a\n\n", transcript.EndedByServer, none, ""},
		{"with its length", streamHead + "Content-Length: 9\r\n\r\ndata: a\n\n", transcript.EndedByServer, none, ""},
		{"without the last chunk", chunkedStream + "9\r\ndata: a\n\n\r\n", transcript.EndedBroken, closed, "the connection was closed after 9 bytes of the body"},
		{
			"in a chunk", chunkedStream + "20\r\ndata: a\n\ndata: b", transcript.EndedBroken, closed,
			`the connection was closed after 16 bytes of the body inside an event: "data: b"`,
		},
		{"in an event", streamHead + "\r\ndata: a\n\ndata: b\n", transcript.EndedBroken, closed, `the stream ended inside an event: "data: b\n"`},
		{"in nonsense", chunkedStream + "9\r\ndata: a\n\n\r\nnonsense", transcript.EndedBroken, malform, `malformed size of a chunk, after 9 bytes of the body: "nonsense"`},
		{"before it ends", streamHead + "Content-Length: 9\r\n\r\ndata: a\n\ndata: b", transcript.EndedBroken, malform, `7 bytes follow the response: "data: b"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &wire{script: []string{tc.says}}
			_, s := stream(t, w.client(Options{}), time.Now())
			if err := s.AwaitEnd(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := record(s)
			if len(got.Events) != 1 || got.Ended != tc.ended {
				t.Errorf("%d events, ended by %s, want 1, by %s", len(got.Events), got.Ended, tc.ended)
			}
			fails(t, &transcript.Exchange{Failure: got.Failure}, tc.kind, inBody, tc.text)
			if got.Failure != nil && got.Failure.Text != tc.text {
				t.Errorf("text %q, want %q", got.Failure.Text, tc.text)
			}
			if err := s.Close(); err != nil || !w.closed {
				t.Errorf("Close: %v; closed %t", err, w.closed)
			}
		})
	}
}

func TestOtherBodiesThanEventStreamsAreReadAsUsual(t *testing.T) {
	for _, tc := range []struct {
		says, body string
		kind       transcript.FailureKind
	}{
		{ok + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", "{}", none},
		{ok + "Content-Type: application/json\r\nContent-Length: 3\r\n\r\n{}", "{}", closed},
		{ok + "Content-Type: text/event-streams\r\nContent-Length: 2\r\n\r\n{}", "{}", none},
		{"HTTP/1.1 404 Not Found\r\nContent-Type: text/event-stream\r\nContent-Length: 2\r\n\r\n{}", "{}", none},
		{"HTTP/1.1 204 No Content\r\nContent-Type: text/event-stream\r\n\r\n", "", none},
	} {
		w := &wire{script: []string{tc.says}}
		ex, s, err := w.client(Options{}).stream(t.Context(), time.Now(), &Request{Method: "GET", Target: "/"}, nil)
		if s != nil || err != nil {
			t.Fatalf("Stream: %v, %v", s, err)
		}
		fails(t, ex, tc.kind, inBody, "")
		if string(ex.Response.Body.Bytes) != tc.body {
			t.Errorf("body %q, want %q", ex.Response.Body.Bytes, tc.body)
		}
	}
	ex, s, err := (&wire{}).client(Options{}).stream(t.Context(), time.Now(), &Request{Method: "GET", Target: "/"}, nil)
	if s != nil || err != nil {
		t.Fatalf("Stream: %v, %v", s, err)
	}
	fails(t, ex, closed, inHead, "")
}

func TestTheWatchOptionsAreTheCallers(t *testing.T) {
	w := &wire{script: []string{streamHead + "\r\nevent: a\ndata: 1\n\nevent: b\ndata: 2\n\n"}}
	opts := &watch.Options{
		Start: time.Now().Add(-time.Hour),
		Name:  func(ev *transcript.Event) string { return "the " + ev.Type },
		Keep:  func(ev *transcript.Event) bool { return ev.Type == "b" },
	}
	_, s, _ := w.client(Options{}).stream(t.Context(), time.Now(), &Request{Method: "GET", Target: "/"}, opts)
	defer s.Close()
	_ = s.AwaitEnd(t.Context())
	got := record(s)
	if len(got.Events) != 1 || got.Events[0].Name != "the b" || got.Left != 1 || got.Until > time.Minute {
		t.Errorf("stream %+v", got)
	}
}

func TestWhatTheServerSeesOfTheEndOfAStream(t *testing.T) {
	for _, tc := range []struct {
		name  string
		end   func(*Stream) error
		sees  error // nil means io.EOF
		ended transcript.Ending
	}{
		{"Close", (*Stream).Close, nil, transcript.EndedByClient},
		{"Reset", (*Stream).Reset, syscall.ECONNRESET, transcript.EndedByClient},
		{"CloseWrite", (*Stream).CloseWrite, nil, transcript.EndedByServer},
	} {
		t.Run(tc.name, func(t *testing.T) {
			seen := make(chan error, 1)
			c := dialer(t, loopback(t, func(_ int, conn *net.TCPConn, r *bufio.Reader) {
				readHead(r)
				io.WriteString(conn, chunkedStream+"9\r\ndata: a\n\n\r\n")
				_, err := r.ReadByte()
				seen <- err
				io.WriteString(conn, "9\r\ndata: b\n\n\r\n0\r\n\r\n")
			}), nil)
			_, s := stream(t, c, time.Now())
			if _, err := s.Await(t.Context(), 0, func(*transcript.Event) bool { return true }); err != nil {
				t.Fatal(err)
			}
			if err := tc.end(s); err != nil {
				t.Fatal(err)
			}
			if err := <-seen; tc.sees == nil && err != io.EOF || tc.sees != nil && !errors.Is(err, tc.sees) {
				t.Errorf("the server sees %v, want %v", err, tc.sees)
			}
			_ = s.AwaitEnd(t.Context())
			got := record(s)
			if got.Ended != tc.ended || got.Failure != nil {
				t.Errorf("ended by %s, %+v, want by %s", got.Ended, got.Failure, tc.ended)
			}
			if want := map[transcript.Ending]int{transcript.EndedByClient: 1, transcript.EndedByServer: 2}[tc.ended]; len(got.Events) != want {
				t.Errorf("%d events, want %d", len(got.Events), want)
			}
			if err := errors.Join(s.Close(), s.Reset()); err != nil {
				t.Errorf("to end it again: %v", err)
			}
		})
	}
}

// streamIn is an event stream in a content coding.
func streamIn(coding, content string) string {
	return streamHead + "Content-Encoding: " + coding + "\r\n\r\n" + content
}

func TestAStreamIsDecoded(t *testing.T) {
	const events = "data: a\n\ndata: b\n\n"
	inGzip := gzipped(events)
	for _, tc := range []struct {
		name    string
		says    string
		decoded bool
		want    []string
		ended   transcript.Ending
		text    string
	}{
		{"gzip", streamIn("x-gzip", inGzip), true, []string{"a", "b"}, transcript.EndedByServer, ""},
		{"two codings", streamIn("gzip, gzip", gzipped(inGzip)), true, []string{"a", "b"}, transcript.EndedByServer, ""},
		{"cut", streamIn("gzip", inGzip[:len(inGzip)-9]), true, []string{"a", "b"}, transcript.EndedBroken, "the stream is not in its content coding gzip: it ends too early"},
		{"more behind it", streamIn("gzip", inGzip+"data: c\n\n"), true, []string{"a", "b"}, transcript.EndedBroken, "the stream is not in its content coding gzip: it ends too early"},
		{"plain text that is called gzip", streamIn("gzip", events), true, nil, transcript.EndedBroken, "the stream is not in its content coding gzip: gzip: invalid header"},
		{"a part of one that nobody reads", streamIn("compress", "data: a\n\n\x1f\x9d\x90h"), false, []string{"a"}, transcript.EndedBroken, "the stream ended inside an event, after 4 bytes of it in a content coding that is not decoded"},
		{"one that nobody reads", streamIn("compress", events), false, []string{"a", "b"}, transcript.EndedByServer, ""},
	} {
		c := piped(t, Options{}, func(conn net.Conn) {
			readHead(bufio.NewReader(conn))
			io.WriteString(conn, tc.says)
		})
		_, s := stream(t, c, time.Now())
		if err := s.AwaitEnd(t.Context()); err != nil {
			t.Fatal(err)
		}
		rec := record(s)
		var got []string
		for _, ev := range rec.Events {
			got = append(got, ev.Data)
		}
		text := ""
		if rec.Failure != nil {
			text = rec.Failure.Text
		}
		if !slices.Equal(got, tc.want) || s.Decoded() != tc.decoded || rec.Ended != tc.ended || text != tc.text {
			t.Errorf("%s: %q, decoded %t, ended by %s: %q; want %q, %t, %s: %q", tc.name, got, s.Decoded(), rec.Ended, text, tc.want, tc.decoded, tc.ended, tc.text)
		}
	}
}
