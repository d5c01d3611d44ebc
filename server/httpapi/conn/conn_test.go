package conn_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// A script is a connection whose client sends fixed bytes, in pieces that the reader cuts.
type script struct {
	net.Conn
	io.Reader
}

func (s script) Read(p []byte) (int, error) { return s.Reader.Read(p) }

// accept wraps one connection as Listen does.
func accept(t *testing.T, nc net.Conn) net.Conn {
	t.Helper()
	one := make(chan net.Conn, 1)
	one <- nc
	c, err := conn.Listen(once(one), time.Minute).Accept()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type once chan net.Conn

func (o once) Accept() (net.Conn, error) { return <-o, nil }
func (o once) Close() error              { return nil }
func (o once) Addr() net.Addr            { return nil }

func TestRequestLinesAreRewritten(t *testing.T) {
	for in, want := range map[string]string{
		"GET /a%ZZ HTTP/1.1\r\n":             "GET /a%25ZZ HTTP/1.1\r\n",
		"GET /% HTTP/1.1\r\n":                "GET /%25 HTTP/1.1\r\n",
		"GET /%4 HTTP/1.1\r\n":               "GET /%254 HTTP/1.1\r\n",
		"GET /%%41%4g%fF HTTP/1.1\r\n":       "GET /%25%41%254g%fF HTTP/1.1\r\n",
		"GET /%%%\n":                         "GET /%25%25%25\n",
		"GET /ok?q=%Z HTTP/1.1\r\nX: %Z\r\n": "GET /ok?q=%25Z HTTP/1.1\r\nX: %Z\r\n",
		"GET http://h/%Z HTTP/1.1\r\n":       "GET http://h/%25Z HTTP/1.1\r\n",
		"M-SEARCH /%Z HTTP/1.1\r\n":          "M-SEARCH /%25Z HTTP/1.1\r\n",
		"GET /%":                             "GET /%25", // the client ends in the middle
		"GET /%f":                            "GET /%25f",
		"GET /ü%C3%BC HTTP/1.1\r\n":          "GET /ü%C3%BC HTTP/1.1\r\n",
		"":                                   "",

		// These are not request lines, so they pass unchanged.
		"{\"a\": \"/100%\"}":         "{\"a\": \"/100%\"}",
		" /%Z GET /%Z":               " /%Z GET /%Z",
		"get /%Z HTTP/1.1\r\n":       "get /%Z HTTP/1.1\r\n",
		"GET %Z HTTP/1.1\r\n":        "GET %Z HTTP/1.1\r\n",
		"GET\n/%Z":                   "GET\n/%Z",
		"1A\r\nGET /%Z HTTP/1.1\r\n": "1A\r\nGET /%Z HTTP/1.1\r\n",
		"-GET /%Z HTTP/1.1\r\n":      "-GET /%Z HTTP/1.1\r\n",
	} {
		for name, cut := range map[string]func(io.Reader) io.Reader{
			"at once":         func(r io.Reader) io.Reader { return r },
			"byte by byte":    iotest.OneByteReader,
			"with its end":    iotest.DataErrReader,
			"in halves":       iotest.HalfReader,
			"bytes, with end": func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
		} {
			got, err := io.ReadAll(accept(t, script{Reader: cut(strings.NewReader(in))}))
			if err != nil || string(got) != want {
				t.Errorf("%q %s is read as %q, %v; want %q", in, name, got, err, want)
			}
		}
	}
}

func TestAReaderWithLittleRoomGetsEverything(t *testing.T) {
	c := accept(t, script{Reader: strings.NewReader("GET /%Z%Z HTTP/1.1\r\n")})
	got, err := io.ReadAll(iotest.OneByteReader(c))
	if want := "GET /%25Z%25Z HTTP/1.1\r\n"; err != nil || string(got) != want {
		t.Errorf("read %q, %v; want %q", got, err, want)
	}
}

func TestAnErrorComesAfterTheBytesBeforeIt(t *testing.T) {
	broken := errors.New("broken")
	c := accept(t, script{Reader: io.MultiReader(strings.NewReader("GET /%"), iotest.ErrReader(broken))})
	got, err := io.ReadAll(c)
	if want := "GET /%25"; string(got) != want || !errors.Is(err, broken) {
		t.Errorf("read %q, %v; want %q, %v", got, err, want, broken)
	}
}

func TestOnlyTheNextRequestLineIsRewrittenWhenTheConnectionIsIdle(t *testing.T) {
	c := accept(t, script{Reader: strings.NewReader("GET /%Z HTTP/1.1\r\n\r\nGET /%Z HTTP/1.1\r\n\r\n")})
	read := func(n int) string {
		t.Helper()
		p := make([]byte, n)
		if _, err := io.ReadFull(c, p); err != nil {
			t.Fatal(err)
		}
		return string(p)
	}
	const first = "GET /%25Z HTTP/1.1\r\n\r\n"
	if got := read(len(first)); got != first {
		t.Errorf("first request: %q, want %q", got, first)
	}
	if got, want := read(len("GET")), "GET"; got != want {
		t.Fatalf("read %q, want %q", got, want)
	}
	conn.State(c, http.StateIdle) // net/http may have read a little ahead
	if got, want := read(len(" /%Z")), " /%Z"; got != want {
		t.Errorf("without the beginning of a method: %q, want %q", got, want)
	}
}

// FuzzRequestLine checks that the cuts of the input do not matter, that only invalid escapes in the first line's
// target change, and that net/http can read every resulting target.
func FuzzRequestLine(f *testing.F) {
	f.Add("GET /a%ZZ?%4 HTTP/1.1\r\nHost: %\r\n", uint8(3))
	f.Add("POST /%%%41%", uint8(1))
	f.Add("{\"100%\": 1}", uint8(2))
	line := regexp.MustCompile(`^[A-Z][A-Z-]* [/hH][^ \n]*`)
	escape := regexp.MustCompile(`%([0-9a-fA-F]{2})?`)
	f.Fuzz(func(t *testing.T, in string, size uint8) {
		want := line.ReplaceAllStringFunc(in, func(s string) string {
			return escape.ReplaceAllStringFunc(s, func(e string) string {
				if e == "%" {
					return "%25"
				}
				return e
			})
		})
		pieces := make([]io.Reader, 0, len(in))
		for rest := in; rest != ""; {
			n := min(len(rest), int(size)+1)
			pieces = append(pieces, strings.NewReader(rest[:n]))
			rest = rest[n:]
		}
		got, err := io.ReadAll(accept(t, script{Reader: io.MultiReader(pieces...)}))
		if err != nil || string(got) != want {
			t.Fatalf("%q in pieces of %d is read as %q, %v; want %q", in, int(size)+1, got, err, want)
		}
	})
}

// serve runs a handler with Listen, Context and State.
func serve(t *testing.T, handler http.HandlerFunc) *memnet.Listener {
	t.Helper()
	ln := memnet.Listen()
	memnet.Serve(t, &http.Server{Handler: handler, ConnContext: conn.Context, ConnState: conn.State}, conn.Listen(ln, 40*time.Second))
	return ln
}

func TestEveryRequestOfAConnectionMayHaveInvalidEscapes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.RequestURI) })
		client := ln.Connect(t)
		defer client.Close()
		responses := bufio.NewReader(client)
		for i := range 3 {
			fmt.Fprintf(client, "GET /%d%%ZZ%% HTTP/1.1\r\nHost: x\r\n\r\n", i)
			resp, err := http.ReadResponse(responses, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if want := fmt.Sprintf("/%d%%25ZZ%%25", i); err != nil || resp.StatusCode != 200 || string(body) != want {
				t.Errorf("request %d: %d %q, %v; want 200 %q", i, resp.StatusCode, body, err, want)
			}
		}
	})
}

func TestABodyThatFollowsAPipelinedHeadIsNotTakenForARequestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s", r.Method, body)
		})
		client := ln.Connect(t)
		defer client.Close()
		const body = `{"share of / in %": "5 /%Z"}`
		go func() {
			fmt.Fprintf(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", len(body))
			io.WriteString(client, body)
		}()
		responses := bufio.NewReader(client)
		for _, want := range []string{"GET ", "POST " + body} {
			resp, err := http.ReadResponse(responses, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(resp.Body); err != nil || string(got) != want {
				t.Errorf("answer: %q, %v; want %q", got, err, want)
			}
		}
	})
}

// TestTheEndOfAClientIsNoticedBehindWhatItSends checks what net/http alone cannot do.
func TestTheEndOfAClientIsNoticedBehindWhatItSends(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan time.Time, 1)
			ln := serve(t, func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(2 * time.Second) // the client has already sent something
				if deaf {
					conn.DiscardInput(r.Context())
				}
				<-r.Context().Done()
				ended <- time.Now()
			})
			client := ln.Connect(t)
			go io.Copy(io.Discard, client)
			const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
			io.WriteString(client, request+request)
			for range 4 {
				time.Sleep(time.Second) // on the bubble's clock
				io.WriteString(client, request)
			}
			if len(ended) > 0 {
				t.Error("the request ended because its client sent something")
			}
			time.Sleep(time.Second)
			closed := time.Now()
			client.Close()
			if got := <-ended; !got.Equal(closed) {
				t.Errorf("deaf: %t: the end was noticed after %s, want at once", deaf, got.Sub(closed))
			}
		})
	}
}

func TestADeafConnectionTakesAnyAmount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		ln := serve(t, func(w http.ResponseWriter, r *http.Request) {
			conn.DiscardInput(r.Context())
			<-r.Context().Done()
			close(ended)
		})
		client := ln.Connect(t)
		io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		synctest.Wait()
		if _, err := io.WriteString(client, strings.Repeat("x", 1<<20)); err != nil {
			t.Errorf("sending: %v", err)
		}
		client.Close()
		<-ended
	})
}

// TestRequestsThatComeWhileAHandlerRunsAreAnswered sends requests with invalid escapes while the first one is being
// handled. The later ones arrive in pieces.
func TestRequestsThatComeWhileAHandlerRunsAreAnswered(t *testing.T) {
	for _, size := range []int{1, 7, 1000, 80 << 10} { // the last is more than is kept
		synctest.Test(t, func(t *testing.T) {
			ln := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				time.Sleep(time.Minute)
				fmt.Fprintf(w, "%s %d", r.RequestURI, len(body))
			})
			client := ln.Connect(t)
			defer client.Close()
			io.WriteString(client, "GET /first%Z HTTP/1.1\r\nHost: x\r\n\r\n")
			synctest.Wait() // the handler runs
			body := strings.Repeat("{ / %Z\n", 20_000)
			go func() {
				rest := fmt.Sprintf("POST /second%%Z HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				for rest != "" {
					n := min(size, len(rest))
					io.WriteString(client, rest[:n])
					rest = rest[n:]
				}
			}()
			responses := bufio.NewReader(client)
			for _, want := range []string{"/first%25Z 0", fmt.Sprintf("/second%%25Z %d", len(body))} {
				resp, err := http.ReadResponse(responses, nil)
				if err != nil {
					t.Fatalf("in pieces of %d: %v", size, err)
				}
				if got, err := io.ReadAll(resp.Body); err != nil || string(got) != want {
					t.Errorf("in pieces of %d: answer %q, %v; want %q", size, got, err, want)
				}
			}
		})
	}
}

func TestAClientThatReadsNothingIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		ln := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, err := w.Write(make([]byte, 1<<20))
			failed <- err
		})
		client := ln.Connect(t)
		defer client.Close()
		io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // and never reads
		start := time.Now()
		err := <-failed
		if waited := time.Since(start); !errors.Is(err, conn.ErrStalled) || waited < 40*time.Second || waited > 45*time.Second {
			t.Errorf("Write: %v after %s, want ErrStalled after 40s and at most an eighth more", err, waited)
		}
	})
}

func TestAClientThatReadsSlowlyIsNotDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 4 << 20
		failed := make(chan error, 1)
		ln := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, err := w.Write(make([]byte, size))
			failed <- err
		})
		client := ln.Connect(t)
		start := time.Now()
		io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		got := 0
		for p := make([]byte, 80<<10); ; {
			n, err := io.ReadFull(client, p)
			if got += n; err != nil {
				break
			}
			time.Sleep(35 * time.Second)
		}
		if err := <-failed; err != nil || got < size || time.Since(start) < 20*time.Minute {
			t.Errorf("Write: %v after %s, and %d bytes came; want all, slowly", err, time.Since(start), got)
		}
		client.Close()
	})
}

func TestADeadlineFromOutsideIsNotExtended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		ln := serve(t, func(w http.ResponseWriter, r *http.Request) {
			rc := http.NewResponseController(w)
			time.AfterFunc(3*time.Second, func() { rc.SetWriteDeadline(time.Unix(1, 0)) })
			_, err := w.Write(make([]byte, 1<<20))
			failed <- err
		})
		client := ln.Connect(t)
		defer client.Close()
		io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // and never reads
		start := time.Now()
		err := <-failed
		if !errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, conn.ErrStalled) || time.Since(start) != 3*time.Second {
			t.Errorf("Write: %v after %s, want its deadline after 3s", err, time.Since(start))
		}
	})
}

func TestTheMethodsOfTheInnerConnectionAreAvailable(t *testing.T) {
	below := &recorder{}
	c := accept(t, below)
	if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil || !below.halfClosed {
		t.Errorf("CloseWrite: %v; the connection below was half-closed: %t", err, below.halfClosed)
	}
	deadline := time.Unix(7, 0)
	if err := c.SetDeadline(deadline); err != nil || !below.read.Equal(deadline) || !below.write.Equal(deadline) {
		t.Errorf("SetDeadline: %v; below it is %s for reads and %s for writes", err, below.read, below.write)
	}
	if _, err := c.Write(nil); err != nil || !below.write.Equal(deadline) {
		t.Errorf("Write: %v; the deadline that was set is now %s", err, below.write)
	}
	if err := accept(t, script{}).(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Errorf("CloseWrite where there is none: %v", err)
	}
}

// A recorder is a connection that records what is done to it.
type recorder struct {
	net.Conn
	halfClosed  bool
	read, write time.Time
}

func (r *recorder) CloseWrite() error {
	r.halfClosed = true
	return nil
}

func (r *recorder) SetReadDeadline(t time.Time) error {
	r.read = t
	return nil
}

func (r *recorder) SetWriteDeadline(t time.Time) error {
	r.write = t
	return nil
}

func (r *recorder) Write(p []byte) (int, error) { return len(p), nil }

func TestADeafConnectionIsClosedAfterItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := serve(t, func(w http.ResponseWriter, r *http.Request) {
			conn.DiscardInput(r.Context())
			io.WriteString(w, "done")
		})
		client := ln.Connect(t)
		defer client.Close()
		io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		got, err := io.ReadAll(client)
		if err != nil || !strings.HasSuffix(string(got), "\r\n\r\ndone") {
			t.Errorf("read %q, %v; want one answer and the end", got, err)
		}
	})
}
