package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet"
)

// TestTheAnswerToADeleteIsNotAwaitedForLong: the library alone would wait for five seconds.
func TestTheAnswerToADeleteIsNotAwaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := memnet.Listen()
		host := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}
		go host.Serve(ln)
		defer host.Close()
		const uri = "http://test/"
		r := NewHTTP(true, uri, parsed(t, uri), nil, 1000)
		r.base.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return ln.Dial(ctx) }
		request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, uri, nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := r.RoundTrip(request); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != farewell {
			t.Errorf("%v after %s, want that it gives up after %s", err, time.Since(began), farewell)
		}
	})
}
