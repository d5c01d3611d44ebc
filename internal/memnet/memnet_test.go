package memnet_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestAServerAnswersWithoutAPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := memnet.Listen()
		memnet.Serve(t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, r.Host+r.URL.Path)
		})}, ln)
		client := ln.Client()

		resp, err := client.Get("http://anything.test/path")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if want := "anything.test/path"; err != nil || string(body) != want {
			t.Errorf("body: %q, %v; want %q", body, err, want)
		}
		client.CloseIdleConnections()
	})
}

func TestAClosedListenerRefusesBothSides(t *testing.T) {
	ln := memnet.Listen()
	accepted := make(chan error, 1)
	go func() {
		_, err := ln.Accept()
		accepted <- err
	}()
	if err := errors.Join(ln.Close(), ln.Close()); err != nil {
		t.Errorf("Close twice: %v", err)
	}
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept: %v, want net.ErrClosed", err)
	}
	if _, err := ln.Dial(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Dial: %v, want net.ErrClosed", err)
	}
}

func TestADialThatIsNotAcceptedEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := memnet.Listen()
		defer ln.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if _, err := ln.Dial(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Dial: %v, want the context's end", err)
		}
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("Dial gave up after %s, want 3s", waited)
		}
	})
}
