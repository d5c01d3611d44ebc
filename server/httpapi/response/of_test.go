package response_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

func TestEncodedResponsesDoNotShareTheirBuffers(t *testing.T) {
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			text := strings.Repeat(fmt.Sprint(n%10), 1<<(n%22))
			a, err := response.Encoded[string](func(w *jsonwire.Writer) error {
				w.String(text)
				return nil
			})
			if err != nil {
				t.Errorf("Encoded: %v", err)
				return
			}
			w := httptest.NewRecorder()
			if err := a.Write(w, 200); err != nil || w.Code != 200 || w.Body.String() != `"`+text+`"` || w.Header().Get("Content-Length") != fmt.Sprint(len(text)+2) {
				t.Errorf("%d %v %.20q, %v; want %.20q", w.Code, w.Header(), w.Body, err, text)
			}
		})
	}
	all.Wait()
}

func TestAResponseThatCannotBeEncoded(t *testing.T) {
	broken := errors.New("broken")
	if _, err := response.Encoded[string](func(*jsonwire.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Encoded: %v, want %v", err, broken)
	}
}
