package answer_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-dev/lockstep/server/answer"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
)

func TestBuiltAnswersDoNotShareTheirBuffers(t *testing.T) {
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			text := strings.Repeat(fmt.Sprint(n%10), 1<<(n%22))
			a, err := answer.Build(func(w *jsonwire.Writer) error {
				w.String(text)
				return nil
			})
			if err != nil {
				t.Errorf("Build: %v", err)
				return
			}
			w := httptest.NewRecorder()
			if err := a.Write(w); err != nil || w.Code != 200 || w.Body.String() != `"`+text+`"` || w.Header().Get("Content-Length") != fmt.Sprint(len(text)+2) {
				t.Errorf("%d %v %.20q, %v; want %.20q", w.Code, w.Header(), w.Body, err, text)
			}
		})
	}
	all.Wait()
}

func TestAnAnswerThatCannotBeBuilt(t *testing.T) {
	broken := errors.New("broken")
	if a, err := answer.Build(func(*jsonwire.Writer) error { return broken }); a != nil || !errors.Is(err, broken) {
		t.Errorf("Build: %v, %v; want %v", a, err, broken)
	}
}
