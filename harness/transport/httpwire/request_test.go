package httpwire

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"hash"
	"io"
	"net"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const noContent = "HTTP/1.1 204 No Content\r\n\r\n"

func TestARequestIsWrittenUnchanged(t *testing.T) {
	const start = "Host: wire\r\nUser-Agent: lockstep\r\n"
	for _, tc := range []struct {
		name string
		req  Request
		want string
	}{
		{"plain", Request{Method: "GET", Target: "/a?b=c"}, "GET /a?b=c HTTP/1.1\r\n" + start + "\r\n"},
		{"a target that is not clean", Request{Method: "GET", Target: `/a/../%ZZ\ü{}?"#f`}, `GET /a/../%ZZ\ü{}?"#f HTTP/1.1` + "\r\n" + start + "\r\n"},
		{"a target in asterisk form", Request{Method: "OPTIONS", Target: "*"}, "OPTIONS * HTTP/1.1\r\n" + start + "\r\n"},
		{"an unknown method", Request{Method: "get!", Target: "/"}, "get! / HTTP/1.1\r\n" + start + "\r\n"},
		{
			"fields in their order and case, repeated, and with odd values",
			Request{Method: "GET", Target: "/", Header: fields("x-b", "1", "X-A", " \t", "X-B", "\x01ü\xff", "x-b", "")},
			"GET / HTTP/1.1\r\n" + start + "x-b: 1\r\nX-A:  \t\r\nX-B: \x01ü\xff\r\nx-b: \r\n\r\n",
		},
		{
			"fields of its own in place of ours",
			Request{Method: "GET", Target: "/", Header: fields("Accept", "*/*", "host", "other", "USER-AGENT", "me")},
			"GET / HTTP/1.1\r\nAccept: */*\r\nhost: other\r\nUSER-AGENT: me\r\n\r\n",
		},
		{"a body", Request{Method: "POST", Target: "/", Body: []byte("hello")}, "POST / HTTP/1.1\r\n" + start + "Content-Length: 5\r\n\r\nhello"},
		{"a body of GET", Request{Method: "GET", Target: "/", Body: []byte("x")}, "GET / HTTP/1.1\r\n" + start + "Content-Length: 1\r\n\r\nx"},
		{"no body of POST", Request{Method: "POST", Target: "/"}, "POST / HTTP/1.1\r\n" + start + "Content-Length: 0\r\n\r\n"},
		{"no body of DELETE", Request{Method: "DELETE", Target: "/"}, "DELETE / HTTP/1.1\r\n" + start + "\r\n"},
		{"a wrong length", Request{Method: "POST", Target: "/", Body: []byte("abc"), Header: fields("content-length", "9")}, "POST / HTTP/1.1\r\n" + start + "content-length: 9\r\n\r\nabc"},
		{"chunked", Request{Method: "POST", Target: "/", Body: []byte("0123456789abcdef!"), Chunked: true}, "POST / HTTP/1.1\r\n" + start + "Transfer-Encoding: chunked\r\n\r\n11\r\n0123456789abcdef!\r\n0\r\n\r\n"},
		{"chunked, without a body", Request{Method: "POST", Target: "/", Chunked: true}, "POST / HTTP/1.1\r\n" + start + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"chunked, with a length", Request{Method: "POST", Target: "/", Body: []byte("x"), Chunked: true, Header: fields("Content-Length", "1")}, "POST / HTTP/1.1\r\n" + start + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"},
		{"chunked by hand", Request{Method: "POST", Target: "/", Body: []byte("zz\r\n"), Header: fields("Transfer-Encoding", "chunked")}, "POST / HTTP/1.1\r\n" + start + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &wire{script: []string{noContent}}
			ex, err := w.client(Options{}).Do(t.Context(), time.Now(), &tc.req)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, w.sent.String()); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			head, _, _ := strings.Cut(tc.want, "\r\n\r\n")
			lines := strings.Split(head, "\r\n")
			for i, f := range ex.Request.Header {
				if got := f.Name + ": " + f.Value; got != lines[1+i] {
					t.Errorf("recorded field %q, sent %q", got, lines[1+i])
				}
			}
			if got := ex.Request; got.Method != tc.req.Method || got.Target != tc.req.Target ||
				string(got.Body.Bytes) != string(tc.req.Body) || got.Body.Size != int64(len(tc.req.Body)) {
				t.Errorf("recorded %+v", got)
			}
		})
	}
}

func TestThePathOfTheBaseURLGoesBeforeTheTarget(t *testing.T) {
	for _, tc := range []struct{ base, target, want string }{
		{"http://h", "/a", "/a"},
		{"http://h/", "/a", "/a"},
		{"http://h/v1", "/a", "/v1/a"},
		{"http://h/v1/", "/", "/v1/"},
		{"http://h/a%2Fb/", "//c", "/a%2Fb//c"},
		{"http://h/v1", "*", "*"},
		{"http://h/v1", "http://other/x", "http://other/x"},
	} {
		base, err := url.Parse(tc.base)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewClient(base, nil).compose(&Request{Method: "GET", Target: tc.target})
		if err != nil {
			t.Fatal(err)
		}
		if m.record.Target != tc.want || !strings.HasPrefix(string(m.bytes), "GET "+tc.want+" HTTP/1.1\r\nHost: h\r\n") {
			t.Errorf("%s and %s: %q", tc.base, tc.target, m.bytes)
		}
	}
}

func TestALargeBodyIsWrittenWholly(t *testing.T) {
	for _, isChunked := range []bool{false, true} {
		body := strings.Repeat("x", inlineBody+1)
		w := &wire{script: []string{noContent}}
		_, err := w.client(Options{}).Do(t.Context(), time.Now(), &Request{
			Method: "PUT", Target: "/", Body: []byte(body), Chunked: isChunked,
		})
		if err != nil {
			t.Fatal(err)
		}
		want := "\r\nContent-Length: 32769\r\n\r\n" + body
		if isChunked {
			want = "\r\nTransfer-Encoding: chunked\r\n\r\n8001\r\n" + body + "\r\n0\r\n\r\n"
		}
		if _, got, _ := strings.Cut(w.sent.String(), "lockstep"); got != want {
			t.Errorf("chunked %t: sent %.60q and so on, %d bytes", isChunked, got, len(got))
		}
	}
}

// A filled body of 50 MiB needs no more memory than a piece of its filler.
func TestAPaddedBodyIsNeverInMemory(t *testing.T) {
	const head, tail = `{"a":"`, `"}`
	for _, size := range []int64{8, 9, 70_000, 50 << 20, 50<<20 + 1} {
		for _, isChunked := range []bool{false, true} {
			var sum hash.Hash
			got := make(chan int64, 1)
			c := piped(t, Options{}, func(conn net.Conn) {
				r := bufio.NewReader(conn)
				readHead(r)
				if sum = sha256.New(); isChunked {
					r.ReadString('\n')
				}
				n, _ := io.CopyN(sum, r, size)
				if isChunked {
					io.CopyN(io.Discard, r, int64(len("\r\n0\r\n\r\n")))
				}
				got <- n
				io.WriteString(conn, noContent)
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			ex, err := c.Do(t.Context(), time.Now(), &Request{
				Method: "POST", Target: "/", Body: []byte(head + tail), Chunked: isChunked,
				Fill: &transcript.Fill{At: len(head), Times: size - int64(len(head+tail))},
			})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			fails(t, ex, "", "", "")
			want := sha256.New()
			io.WriteString(want, head)
			for left := size - int64(len(head+tail)); left > 0; left -= 1000 {
				io.WriteString(want, strings.Repeat("x", int(min(left, 1000))))
			}
			io.WriteString(want, tail)
			if n := <-got; n != size || !bytes.Equal(sum.Sum(nil), want.Sum(nil)) || ex.Request.Body.Size != size {
				t.Errorf("%d bytes, chunked %t: got %d, of %d", size, isChunked, n, ex.Request.Body.Size)
			}
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
				t.Errorf("%d bytes, chunked %t: it took %d bytes of memory", size, isChunked, taken)
			}
		}
	}
}

func TestSentReportsThatTheRequestIsWritten(t *testing.T) {
	for _, size := range []int{1, inlineBody + 1} {
		written := make(chan struct{})
		c := piped(t, Options{}, func(conn net.Conn) {
			r := bufio.NewReader(conn)
			readHead(r)
			io.CopyN(io.Discard, r, int64(size))
			<-written // otherwise the exchange would never end
			io.WriteString(conn, noContent)
		})
		ex, err := c.Do(t.Context(), time.Now(), &Request{
			Method: "POST", Target: "/", Body: make([]byte, size), Sent: func() { close(written) },
		})
		if err != nil {
			t.Fatal(err)
		}
		fails(t, ex, "", "", "")
	}
}

func TestARequestThatCannotBeSentIsOurFault(t *testing.T) {
	sound := Request{Method: "GET", Target: "/"}
	for _, tc := range []struct {
		want string
		base string
		edit func(*Request)
	}{
		{`method "": not a token`, "", func(r *Request) { r.Method = "" }},
		{`method "GE T": not a token`, "", func(r *Request) { r.Method = "GE T" }},
		{"target is empty", "", func(r *Request) { r.Target = "" }},
		{"the byte 0x20 would end it", "", func(r *Request) { r.Target = "/a b" }},
		{"the byte 0x0d would end it", "", func(r *Request) { r.Target = "/a\r\nX: y" }},
		{"the byte 0x00 would end it", "", func(r *Request) { r.Target = "/\x00" }},
		{"the byte 0x7f would end it", "", func(r *Request) { r.Target = "/\x7f" }},
		{`header field "": its name is not a token`, "", func(r *Request) { r.Header = fields("", "x") }},
		{`header field "a:b": its name is not a token`, "", func(r *Request) { r.Header = fields("a:b", "x") }},
		{`header field X: "a\r\nY: b" has a line end or a NUL in it`, "", func(r *Request) { r.Header = fields("X", "a\r\nY: b") }},
		{`header field X: "\x00" has a line end or a NUL in it`, "", func(r *Request) { r.Header = fields("X", "\x00") }},
		{`base URL "ftp://h": the scheme is neither http nor https`, "ftp://h", func(*Request) {}},
		{`base URL "http:///x": no host`, "http:///x", func(*Request) {}},
		{`base URL "http://u:xxxxx@h": credentials belong in a header field`, "http://u:p@h", func(*Request) {}},
	} {
		w := &wire{script: []string{noContent}}
		c := w.client(Options{})
		if tc.base != "" {
			base, err := url.Parse(tc.base)
			if err != nil {
				t.Fatal(err)
			}
			c.base = base
		}
		req := sound
		tc.edit(&req)
		ex, err := c.Do(t.Context(), time.Now(), &req)
		if ex != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Do: %v, %v, want %s", ex, err, tc.want)
		}
		if w.sent.Len() > 0 {
			t.Errorf("%s: sent %q", tc.want, w.sent.String())
		}
		ex, cv, err := c.open(t.Context(), time.Now(), &req)
		if ex != nil || cv != nil || err == nil {
			t.Errorf("Open: %v, %v, %v, want nothing but an error", ex, cv, err)
		}
		ex, s, err := c.stream(t.Context(), time.Now(), &req, nil)
		if ex != nil || s != nil || err == nil {
			t.Errorf("Stream: %v, %v, %v, want nothing but an error", ex, s, err)
		}
	}
}

var _ io.ReadCloser = (*conversation)(nil)
