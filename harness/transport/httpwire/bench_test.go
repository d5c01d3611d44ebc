package httpwire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// BenchmarkDo compares Do with net/http's client, which does not decode bodies either. Both use the same server, over
// loopback, which does as little as possible.
func BenchmarkDo(b *testing.B) {
	for _, size := range []int{100, 4 << 10, 64 << 10, 1 << 20} {
		response := fmt.Sprintf("HTTP/1.1 200 OK\r\nDate: Fri, 20 Nov 2026 10:00:00 GMT\r\nContent-Type: application/json\r\n"+
			"Cache-Control: no-store\r\nX-Request-Id: 0123456789abcdef\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size))
		base := benchServer(b, []byte(response))
		body := []byte(`{"toolID":"client_c-1_add","input":{"a":2,"b":3}}`)

		b.Run(fmt.Sprintf("%dB/lockstep", size), func(b *testing.B) {
			c := NewClient(base, nil)
			defer c.Close()
			ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
			defer cancel()
			req := &Request{Method: "POST", Target: "/client-tools/execute", Body: body, Header: transcript.Header{
				{Name: "Content-Type", Value: "application/json"}, {Name: "Accept", Value: "*/*"},
			}}
			b.ReportAllocs()
			for b.Loop() {
				ex, err := c.Do(ctx, time.Now(), req)
				if err != nil || ex.Failure != nil || len(ex.Response.Body.Bytes) != size {
					b.Fatal(err, ex)
				}
			}
		})
		b.Run(fmt.Sprintf("%dB/net-http", size), func(b *testing.B) {
			transport := &http.Transport{DisableCompression: true}
			defer transport.CloseIdleConnections()
			ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				req, err := http.NewRequestWithContext(ctx, "POST", base.String()+"/client-tools/execute", bytes.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", "*/*")
				resp, err := transport.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || len(got) != size {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchServer answers every request with the same bytes.
func benchServer(b *testing.B, response []byte) *url.URL {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				buf := make([]byte, 4<<10)
				for n := 0; ; {
					m, err := conn.Read(buf[n:])
					if err != nil {
						return
					}
					if n += m; bytes.HasSuffix(buf[:n], []byte("}}")) { // the end of the only request
						n = 0
						if _, err := conn.Write(response); err != nil {
							return
						}
					}
				}
			}()
		}
	}()
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}
