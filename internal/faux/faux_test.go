package faux

import (
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/memnet"
)

func TestAServerThatIsClosedBeforeItServesReturns(t *testing.T) {
	s := &Server{}
	s.Close()
	served := make(chan error, 1)
	go func() { served <- s.Serve(memnet.Listen()) }()
	select {
	case err := <-served:
		if err != nil {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("Serve has not returned")
	}
}
