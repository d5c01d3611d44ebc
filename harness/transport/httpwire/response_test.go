package httpwire

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

const (
	none      = ""
	malform   = transcript.FailMalformed
	closed    = transcript.FailClosed
	limit     = transcript.FailLimit
	inHead    = transcript.PhaseHead
	inBody    = transcript.PhaseBody
	ok        = "HTTP/1.1 200 OK\r\n"
	chunkedOK = ok + "Transfer-Encoding: chunked\r\n\r\n"
)

// gzipped returns a text in the coding gzip, without compression.
func gzipped(text string) string {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.NoCompression)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

// responseCases are responses of servers, and what is recorded.
var responseCases = []struct {
	name   string
	says   string
	method string // GET, if empty
	status int    // 0 means that there is no response
	header transcript.Header
	body   string
	kind   transcript.FailureKind
	phase  transcript.Phase
	text   string
}{
	{"a response", ok + "Content-Length: 2\r\n\r\nhi", "", 200, fields("Content-Length", "2"), "hi", none, none, ""},
	{
		"fields in their order and case", ok + "x-b: 1\r\nX-A:\t 2 \t\r\nX-B:\r\nx-b:3\r\ncontent-LENGTH:0\r\n\r\n", "", 200,
		fields("x-b", "1", "X-A", "2", "X-B", "", "x-b", "3", "content-LENGTH", "0"), "", none, none, "",
	},
	{"no reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "", 200, fields("Content-Length", "0"), "", none, none, ""},
	{"no space behind the status", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", "", 404, fields("Content-Length", "0"), "", none, none, ""},
	{"a status nobody knows", "HTTP/1.1 999 ?\r\nContent-Length: 0\r\n\r\n", "", 999, fields("Content-Length", "0"), "", none, none, ""},
	{"lines that end in LF", "HTTP/1.1 200 OK\nA: 1\nContent-Length: 2\n\nhi", "", 200, fields("A", "1", "Content-Length", "2"), "hi", none, none, ""},
	{"control characters and bytes that are not ASCII in a value", ok + "A: \x01\x7f\xffü\r\nContent-Length: 0\r\n\r\n", "", 200, fields("A", "\x01\x7f\xffü", "Content-Length", "0"), "", none, none, ""},
	{"a folded field, as it came", ok + "A: b\r\n  c\r\n\td \r\nContent-Length: 0\r\n\r\n", "", 200, fields("A", "b\r\n  c\r\n\td", "Content-Length", "0"), "", none, none, ""},
	{"a folded length", ok + "Content-Length:\r\n 2\r\n\r\nhi", "", 200, fields("Content-Length", "\r\n 2"), "hi", none, none, ""},
	{"a fold of nothing", ok + "A: b\r\n \r\nContent-Length: 0\r\n\r\n", "", 200, fields("A", "b\r\n", "Content-Length", "0"), "", none, none, ""},
	{"interim responses", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi", "", 200, fields("Content-Length", "2"), "hi", none, none, ""},
	{"another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "", 101, fields("Upgrade", "x"), "", none, none, ""},

	{"nothing", "", "", 0, nil, "", closed, inHead, "the connection was closed before the head"},
	{"half a status line", "HTTP/1.1 2", "", 0, nil, "", closed, inHead, `after "HTTP/1.1 2"`},
	{"half a head", ok + "A: 1\r\n", "", 0, nil, "", closed, inHead, `after "HTTP/1.1 200 OK\r\nA: 1\r\n"`},
	{"nothing behind an interim response", "HTTP/1.1 100 Continue\r\n\r\n", "", 0, nil, "", closed, inHead, ""},
	{"interim responses without end", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 100), "", 0, nil, "", limit, inHead, "more than 32 interim responses"},
	{"another protocol's greeting", "SSH-2.0-OpenSSH_9.6\r\n", "", 0, nil, "", malform, inHead, `not HTTP: "S`},
	{"garbage without a line end", "\x00\xff\x1b[2J", "", 0, nil, "", malform, inHead, `not HTTP: "\x00`},
	{"an empty line first", "\r\n" + ok + "\r\n", "", 0, nil, "", malform, inHead, `not HTTP: "\r\nHTTP`},
	{"another version", "HTTP/2.0 200 OK\r\n\r\n", "", 0, nil, "", malform, inHead, "not HTTP"},
	{"a name in lower case", "http/1.1 200 OK\r\n\r\n", "", 0, nil, "", malform, inHead, "not HTTP"},
	{"garbage that is too large", "X" + strings.Repeat("x", testMaxHead) + "\n", "", 0, nil, "", malform, inHead, `not HTTP: "Xx`},
	{"less than the name of a version", "HTTP/1.\r\n\r\n", "", 0, nil, "", malform, inHead, "malformed status line"},
	{"a version without a digit", "HTTP/1.x 200 OK\r\n\r\n", "", 0, nil, "", malform, inHead, "malformed status line"},
	{"a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "", 0, nil, "", malform, inHead, `malformed status line "HTTP/1.1 20 OK"`},
	{"a status of four digits", "HTTP/1.1 2000\r\n\r\n", "", 0, nil, "", malform, inHead, "malformed status line"},
	{"a status that is no number", "HTTP/1.1 +20 OK\r\n\r\n", "", 0, nil, "", malform, inHead, "malformed status line"},
	{"two spaces before the status", "HTTP/1.1  200 OK\r\n\r\n", "", 0, nil, "", malform, inHead, "malformed status line"},
	{"no status", "HTTP/1.1\r\n\r\n", "", 0, nil, "", malform, inHead, "malformed status line"},
	{"a CR in the reason", "HTTP/1.1 200 O\rK\r\n\r\n", "", 0, nil, "", malform, inHead, "malformed status line"},
	{"a field without a colon", ok + "A: 1\r\nnonsense\r\n\r\n", "", 0, nil, "", malform, inHead, `a field line without a colon: "nonsense"`},
	{"a space before a colon", ok + "A : 1\r\n\r\n", "", 0, nil, "", malform, inHead, `a field name that is not a token: "A : 1"`},
	{"a field without a name", ok + ": 1\r\n\r\n", "", 0, nil, "", malform, inHead, "a field name that is not a token"},
	{"a field name that is not a token", ok + "Ä: 1\r\n\r\n", "", 0, nil, "", malform, inHead, "a field name that is not a token"},
	{"white space before the first field", ok + " A: 1\r\n\r\n", "", 0, nil, "", malform, inHead, "white space before the first field"},
	{"a NUL in a value", ok + "A: \x00\r\n\r\n", "", 0, nil, "", malform, inHead, `a CR or NUL in the field line "A: \x00"`},
	{"a CR in a value", ok + "A: b\rc\r\n\r\n", "", 0, nil, "", malform, inHead, `a CR or NUL in the field line "A: b\rc"`},
	{"two CRs at a line end", ok + "A: b\r\r\n\r\n", "", 0, nil, "", malform, inHead, "a CR or NUL"},
	{"a head that is too large", ok + "A: " + strings.Repeat("x", testMaxHead), "", 0, nil, "", limit, inHead, "the head is larger than 2000 bytes"},
	{"fields without end", ok + strings.Repeat("A: b\r\n", testMaxHead), "", 0, nil, "", limit, inHead, "the head is larger"},

	// Framing: RFC 9112 §6.3.
	{"no body for HEAD", ok + "Content-Length: 99\r\n\r\n", "HEAD", 200, fields("Content-Length", "99"), "", none, none, ""},
	{"no body in 204", "HTTP/1.1 204 No Content\r\n\r\n", "", 204, transcript.Header{}, "", none, none, ""},
	{"no body in 304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "", 304, fields("Content-Length", "5"), "", none, none, ""},
	{"a tunnel", "HTTP/1.1 200 OK\r\n\r\n", "CONNECT", 200, transcript.Header{}, "", none, none, ""},
	{"a body until the end", ok + "\r\nhello\r\n", "", 200, transcript.Header{}, "hello\r\n", none, none, ""},
	{"HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello", "", 200, transcript.Header{}, "hello", none, none, ""},
	{"the same length twice", ok + "Content-Length: 2\r\ncontent-length: 2, 2\r\n\r\nhi", "", 200, fields("Content-Length", "2", "content-length", "2, 2"), "hi", none, none, ""},
	{"leading zeros of a length", ok + "Content-Length: 002\r\n\r\nhi", "", 200, fields("Content-Length", "002"), "hi", none, none, ""},
	{"two lengths", ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi", "", 200, fields("Content-Length", "2", "Content-Length", "3"), "", malform, inHead, `malformed Content-Length: "2, 3"`},
	{"two lengths in a list", ok + "Content-Length: 2, 3\r\n\r\nhi", "", 200, fields("Content-Length", "2, 3"), "", malform, inHead, "malformed Content-Length"},
	{"an empty length", ok + "Content-Length:\r\n\r\nhi", "", 200, fields("Content-Length", ""), "", malform, inHead, "malformed Content-Length"},
	{"a length with a sign", ok + "Content-Length: +2\r\n\r\nhi", "", 200, fields("Content-Length", "+2"), "", malform, inHead, "malformed Content-Length"},
	{"a negative length", ok + "Content-Length: -2\r\n\r\nhi", "", 200, fields("Content-Length", "-2"), "", malform, inHead, "malformed Content-Length"},
	{"a length in hexadecimal", ok + "Content-Length: 0x2\r\n\r\nhi", "", 200, fields("Content-Length", "0x2"), "", malform, inHead, "malformed Content-Length"},
	{"a length beyond all bounds", ok + "Content-Length: 99999999999999999999\r\n\r\nhi", "", 200, fields("Content-Length", "99999999999999999999"), "hi", closed, inBody, "after 2 of 9223372036854775807 bytes"},
	{"chunked and a length", ok + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", 200, fields("Content-Length", "2", "Transfer-Encoding", "chunked"), "", malform, inHead, "both Transfer-Encoding and Content-Length"},
	{"chunked in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", malform, inHead, "HTTP/1.0"},
	{"chunked twice", ok + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", "", 200, fields("Transfer-Encoding", "chunked, chunked"), "", malform, inHead, `chunked twice in Transfer-Encoding: "chunked, chunked"`},
	{"chunked below another coding", ok + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", "", 200, fields("Transfer-Encoding", "chunked, gzip"), "0\r\n\r\n", none, none, ""},
	{"chunked above another coding", ok + "Transfer-Encoding: gzip\r\nTransfer-Encoding: CHUNKED\r\n\r\n2\r\n\x1f\x8b\r\n0\r\n\r\n", "", 200, fields("Transfer-Encoding", "gzip", "Transfer-Encoding", "CHUNKED"), "\x1f\x8b", none, none, ""},
	{"a coding nobody knows", ok + "Transfer-Encoding: identity\r\n\r\nhi", "", 200, fields("Transfer-Encoding", "identity"), "hi", none, none, ""},
	{"a body in a coding", ok + "Content-Encoding: gzip\r\nContent-Length: 30\r\n\r\n" + gzipped("hi"), "", 200, fields("Content-Encoding", "gzip", "Content-Length", "30"), "hi", none, none, ""},
	{"a part of one", "HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\nContent-Length: 30\r\n\r\n" + gzipped("hi"), "", 206, fields("Content-Encoding", "gzip", "Content-Length", "30"), gzipped("hi"), none, none, ""},
	{"a body that is in no coding", ok + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b", "", 200, fields("Content-Encoding", "gzip", "Content-Length", "2"), "\x1f\x8b", none, none, ""},
	{"a body that is shorter than its length", ok + "Content-Length: 10\r\n\r\nabc", "", 200, fields("Content-Length", "10"), "abc", closed, inBody, "the connection was closed after 3 of 10 bytes of the body"},
	{"no body where there should be one", ok + "Content-Length: 10\r\n\r\n", "", 200, fields("Content-Length", "10"), "", closed, inBody, "after 0 of 10 bytes"},

	// Limits.
	{"a body as large as can be", ok + "\r\n" + strings.Repeat("x", testMaxBody), "", 200, transcript.Header{}, strings.Repeat("x", testMaxBody), none, none, ""},
	{"a body as large as can be, with a length", ok + "Content-Length: 5000\r\n\r\n" + strings.Repeat("x", testMaxBody), "", 200, fields("Content-Length", "5000"), strings.Repeat("x", testMaxBody), none, none, ""},
	{"a body that is too large", ok + "\r\n" + strings.Repeat("x", testMaxBody+1), "", 200, transcript.Header{}, strings.Repeat("x", testMaxBody), limit, inBody, "the body is larger than 5000 bytes"},
	{"a body that is too large, with a length", ok + "Content-Length: 1073741824\r\n\r\n" + strings.Repeat("x", 2*testMaxBody), "", 200, fields("Content-Length", "1073741824"), strings.Repeat("x", testMaxBody), limit, inBody, "the body is larger"},
	{"chunks without end", chunkedOK + strings.Repeat("64\r\n"+strings.Repeat("x", 100)+"\r\n", 100), "", 200, fields("Transfer-Encoding", "chunked"), strings.Repeat("x", testMaxBody), limit, inBody, "the body is larger"},

	// Chunks: RFC 9112 §7.1.
	{"chunks", chunkedOK + "3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "abc0123456789", none, none, ""},
	{"no chunks", chunkedOK + "0\r\n\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", none, none, ""},
	{"extensions and trailer fields", chunkedOK + "1;a=b;c=\"d\"\r\nx\r\n1 \t; e\r\ny\r\n000;f\r\nDigest: z\r\nFolded: 1\r\n 2\r\n\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "xy", none, none, ""},
	{"a cut chunk", chunkedOK + "5\r\nabc", "", 200, fields("Transfer-Encoding", "chunked"), "abc", closed, inBody, "the connection was closed after 3 bytes of the body"},
	{"a cut chunk size", chunkedOK + "5\r\nabcde\r\n5", "", 200, fields("Transfer-Encoding", "chunked"), "abcde", closed, inBody, "after 5 bytes"},
	{"no last chunk", chunkedOK + "5\r\nabcde\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "abcde", closed, inBody, "after 5 bytes"},
	{"half a line end behind a chunk", chunkedOK + "1\r\nx\r", "", 200, fields("Transfer-Encoding", "chunked"), "x", closed, inBody, ""},
	{"no empty line behind the last chunk", chunkedOK + "0\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", closed, inBody, "before the trailer section"},
	{"half a trailer", chunkedOK + "0\r\nA: b\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", closed, inBody, `in the trailer section, after "A: b\r\n"`},
	{"no chunk size", chunkedOK + "\r\nx\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", malform, inBody, "malformed size of a chunk, after 0 bytes"},
	{"a chunk size that is no number", chunkedOK + "xyz\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", malform, inBody, "malformed size of a chunk"},
	{"a chunk size with a sign", chunkedOK + "-1\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", malform, inBody, "malformed size of a chunk"},
	{"a chunk size with a prefix", chunkedOK + "0x1\r\nx\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", malform, inBody, `malformed size of a chunk, after 0 bytes of the body: "0x1\r"`},
	{"a chunk size behind a space", chunkedOK + " 1\r\nx\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", malform, inBody, "malformed size of a chunk"},
	{"a chunk size before a space", chunkedOK + "1 \r\nx\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", malform, inBody, "malformed size of a chunk"},
	{"a chunk size that ends in LF", chunkedOK + "1\nx\r\n0\r\n\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", malform, inBody, "malformed size of a chunk"},
	{"a CR in an extension", chunkedOK + "1;a\rb\r\nx\r\n0\r\n\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", malform, inBody, "malformed size of a chunk"},
	{"a chunk that is longer than its size", chunkedOK + "1\r\nxy\r\n0\r\n\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "x", malform, inBody, `no CRLF behind a chunk, after 1 bytes of the body: "y`},
	{"a chunk that ends in LF", chunkedOK + "1\r\nx\n0\r\n\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "x", malform, inBody, "no CRLF behind a chunk"},
	{"a chunk beyond all bounds", chunkedOK + "FFFFFFFFFFFFFFFFFF\r\nx", "", 200, fields("Transfer-Encoding", "chunked"), "x", closed, inBody, "after 1 bytes"},
	{"an extension without end", chunkedOK + "1;" + strings.Repeat("a", maxChunkLine), "", 200, fields("Transfer-Encoding", "chunked"), "", limit, inBody, "the line before a chunk is larger than 4096 bytes"},
	{"zeros without end", chunkedOK + strings.Repeat("0", maxChunkLine+1), "", 200, fields("Transfer-Encoding", "chunked"), "", limit, inBody, "the line before a chunk is larger"},
	{"trailer fields without end", chunkedOK + "0\r\n" + strings.Repeat("A: b\r\n", testMaxHead), "", 200, fields("Transfer-Encoding", "chunked"), "", limit, inBody, "the trailer section is larger"},
	{"a malformed trailer", chunkedOK + "0\r\nnonsense\r\n\r\n", "", 200, fields("Transfer-Encoding", "chunked"), "", malform, inBody, "a field line without a colon"},
}

const (
	testMaxHead = 2000
	testMaxBody = 5000
)

func TestAResponseIsRecordedHoweverItArrives(t *testing.T) {
	for _, tc := range responseCases {
		t.Run(tc.name, func(t *testing.T) {
			for _, script := range scripts(tc.says) {
				w := &wire{script: script}
				method := tc.method
				if method == "" {
					method = "GET"
				}
				ex := do(t, w.client(Options{MaxHead: testMaxHead, MaxBody: testMaxBody}), method)
				fails(t, ex, tc.kind, tc.phase, "")
				if len(script) == 1 { // how much is quoted depends on the pieces in which it arrives
					fails(t, ex, tc.kind, tc.phase, tc.text)
				}
				if tc.status == 0 {
					if ex.Response != nil {
						t.Errorf("a response: %+v", ex.Response)
					}
				} else if got := ex.Response; got == nil || got.Status != tc.status || got.Proto != tc.says[:8] && got.Status != 200 ||
					cmp.Diff(tc.header, got.Header) != "" || string(got.Body.Bytes) != tc.body {
					t.Errorf("response %+v\nwant %d %v %.100q", got, tc.status, tc.header, tc.body)
				} else if want := int64(len(tc.body)); got.Body.Size != want && !(tc.kind == limit && got.Body.Size == want+1) {
					t.Errorf("size %d of %d bytes", got.Body.Size, want)
				}
				if !w.closed {
					t.Error("the connection was not closed")
				}
				if t.Failed() {
					t.Fatalf("in %d pieces", len(script))
				}
			}
		})
	}
}

// scripts returns ways to split what a server sends: not at all, after each byte, and once at each place.
func scripts(says string) [][]string {
	out := [][]string{{says}, strings.Split(says, "")}
	for i := 1; i < min(len(says), 500); i++ {
		out = append(out, []string{says[:i], says[i:]})
	}
	return out
}

func TestBytesBehindAResponseAreAFinding(t *testing.T) {
	for _, tc := range []struct{ method, says, body, text string }{
		{"GET", ok + "Content-Length: 3\r\n\r\nabcdef", "abc", `3 bytes follow the response: "def"`},
		{"GET", ok + "Content-Length: 0\r\n\r\nx", "", `1 bytes follow the response: "x"`},
		{"GET", ok + "Content-Length: 20000\r\n\r\n" + strings.Repeat("x", 20001), strings.Repeat("x", 20000), `1 bytes follow the response: "x"`},
		{"HEAD", ok + "Content-Length: 1\r\n\r\nx", "", `1 bytes follow the response: "x"`},
		{"GET", "HTTP/1.1 204 No Content\r\n\r\n" + ok, "", `17 bytes follow the response: "HTTP/1.1 200 OK\r\n"`},
		{"GET", chunkedOK + "1\r\nx\r\n0\r\n\r\n\r\n", "x", `2 bytes follow the response: "\r\n"`},
	} {
		ex := do(t, (&wire{script: []string{tc.says}}).client(Options{}), tc.method)
		fails(t, ex, malform, inBody, tc.text)
		if got := string(ex.Response.Body.Bytes); got != tc.body {
			t.Errorf("body %.40q, want %.40q", got, tc.body)
		}
	}
}

func TestMemoryDoesNotFollowAPromise(t *testing.T) {
	w := &wire{script: []string{ok + "Content-Length: 1099511627776\r\n\r\nabc"}}
	ex := do(t, w.client(Options{MaxBody: 1 << 40}), "GET")
	fails(t, ex, closed, inBody, "after 3 of 1099511627776 bytes")
	if n := cap(ex.Response.Body.Bytes); n > 1<<20 {
		t.Errorf("%d bytes of memory for a body of 3", n)
	}
}

func TestReadErrorsHaveKinds(t *testing.T) {
	for _, tc := range []struct {
		end  error
		kind transcript.FailureKind
		text string
	}{
		{nil, closed, "the connection was closed after 1 of 2 bytes"},
		{errTLSCut, closed, "the connection was closed inside a TLS record after 1 of 2 bytes"},
		{errReset, transcript.FailReset, "the connection was reset after 1 of 2 bytes"},
		{errTest, closed, "the step is over after 1 of 2 bytes"},
		{fmt.Errorf("read: %w", errDeadline), transcript.FailTimeout, "timeout after 1 of 2 bytes"},
	} {
		w := &wire{script: []string{ok + "Content-Length: 2\r\n\r\nx"}, end: tc.end}
		fails(t, do(t, w.client(Options{}), "GET"), tc.kind, inBody, tc.text)
	}
}

func FuzzResponse(f *testing.F) {
	for i, tc := range responseCases {
		f.Add([]byte(tc.says), uint64(i), tc.method == "HEAD")
	}
	f.Fuzz(func(t *testing.T, says []byte, seed uint64, head bool) {
		method := "GET"
		if head {
			method = "HEAD"
		}
		opts := Options{MaxHead: 300, MaxBody: 100}
		whole := do(t, (&wire{script: []string{string(says)}}).client(opts), method)
		var script []string
		for rest := string(says); rest != ""; {
			seed = seed*6364136223846793005 + 1442695040888963407
			n := min(len(rest), int(seed>>60)+1)
			script = append(script, rest[:n])
			rest = rest[n:]
		}
		pieces := do(t, (&wire{script: script}).client(opts), method)
		for _, ex := range []*transcript.Exchange{whole, pieces} {
			if r := ex.Response; r != nil && (len(r.Body.Bytes) > 100 || r.Body.Size > 101) {
				t.Errorf("%d bytes of %d", len(r.Body.Bytes), r.Body.Size)
			}
			if ex.Failure == nil && ex.Response == nil {
				t.Error("neither a response nor a failure")
			}
			ex.Sent, ex.Head, ex.Done = 0, 0, 0
			if ex.Failure == nil {
				continue
			}
			if strings.ContainsFunc(ex.Failure.Text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("the failure's text is not safe: %q", ex.Failure.Text)
			}
			if strings.Contains(ex.Failure.Text, "follow the response") {
				ex.Failure = nil // it is noticed only when it arrives together with the end of the response
			} else {
				ex.Failure.Text = ""
			}
		}
		if diff := cmp.Diff(whole, pieces, cmp.AllowUnexported(transcript.Body{})); diff != "" {
			t.Errorf("the exchange depends on how the response arrives (-whole +pieces):\n%s", diff)
		}
	})
}

func TestInterimResponsesAreRecorded(t *testing.T) {
	w := &wire{script: []string{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n" + ok + "Content-Length: 0\r\n\r\n"}}
	ex := do(t, w.client(Options{}), "GET")
	fails(t, ex, none, "", "")
	want := []transcript.Interim{{Status: 100, Header: transcript.Header{}}, {Status: 103, Header: fields("Link", "</a>", "Link", "</b>")}}
	if diff := cmp.Diff(want, ex.Interim); diff != "" {
		t.Errorf("interim responses (-want +got):\n%s", diff)
	}
}

func TestTrailerFieldsAreRecordedApart(t *testing.T) {
	says := chunkedOK + "1\r\nx\r\n0\r\nDigest: z\r\nX-Took: 3\r\n\r\n"
	for _, script := range scripts(says) {
		ex := do(t, (&wire{script: script}).client(Options{}), "GET")
		if diff := cmp.Diff(fields("Digest", "z", "X-Took", "3"), ex.Response.Trailer); diff != "" {
			t.Fatalf("in %d pieces, the trailer (-want +got):\n%s", len(script), diff)
		}
	}
}
