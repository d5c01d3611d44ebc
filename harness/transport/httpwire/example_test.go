package httpwire_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
	"github.com/lockstep-dev/lockstep/harness/transport/sse"
	"github.com/lockstep-dev/lockstep/harness/transport/watch"
)

// serve returns a client whose server gives the same response to every request.
func serve(response string) *httpwire.Client {
	dial := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			if _, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
				io.WriteString(server, response)
			}
		}()
		return client, nil
	}
	return httpwire.NewClient(&url.URL{Scheme: "http", Host: "example.com"}, &httpwire.Options{Dial: dial})
}

// What a server does wrong is in the Exchange, together with the part of the response that arrived.
func ExampleClient_Do() {
	c := serve("HTTP/1.1 200 OK\r\nX-request-ID: 7\r\nContent-Length: 20\r\n\r\n{\"ok\":")
	defer c.Close()
	ex, err := c.Do(context.Background(), time.Now(), &httpwire.Request{Method: "GET", Target: "/status"})
	if err != nil {
		panic(err) // the request could not be sent, so the server is not to blame
	}
	fmt.Println(ex.Response.Status, ex.Response.Header[0])
	fmt.Printf("%s\n", ex.Response.Body.Bytes)
	fmt.Println(ex.Failure.Kind, "in", ex.Failure.Phase+":", ex.Failure.Text)
	// Output:
	// 200 {X-request-ID 7}
	// {"ok":
	// closed in body: the connection was closed after 6 of 20 bytes of the body
}

func ExampleClient_OpenStream() {
	c := serve("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\nevent: tool\ndata: add\n\n")
	defer c.Close()
	ctx := context.Background()
	s := c.OpenStream(ctx, time.Now(), &httpwire.Request{Method: "GET", Target: "/event"}, func(body io.ReadCloser) *watch.Watch {
		return sse.Open(body, nil)
	})
	defer s.Close()
	i, err := s.Await(ctx, 0, func(ev *transcript.Event) bool { return ev.Name == "tool" })
	if err != nil {
		panic(err)
	}
	if err := s.AwaitEnd(ctx); err != nil {
		panic(err)
	}
	var record transcript.Stream
	s.Record(&record)
	fmt.Printf("%d: %s, of %d; ended by the %s\n", i, record.Events[i].Data, len(record.Events), record.Ended)
	// Output: 1: add, of 2; ended by the server
}
