package clienttools_test

import (
	"testing"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
)

// BenchmarkRoundTrip compares an execution with its minimum: two goroutines, and a channel in each direction. The
// registry also looks the tool up, keeps the execution pending with a timer, and writes a request and three events as
// JSON.
func BenchmarkRoundTrip(b *testing.B) {
	const calls = 5000
	ratio.Report(b, calls,
		ratio.Candidate{Name: "execute", Round: func() ratio.Cost { return executions(b, calls) }},
		ratio.Candidate{Name: "channels", Round: func() ratio.Cost { return channels(calls) }},
	)
}

// executions measures executions with a client that answers at once.
func executions(b *testing.B, calls int) ratio.Cost {
	bus := events.NewBus(nil)
	r := clienttools.NewRegistry(bus, clienttools.Bounds{}, clienttools.RateLimit{})
	r.Register("/", clienttools.Registration{ClientID: "c", Tools: []api.ClientToolDefinition{tool("a", "{}")}})
	requests := bus.Subscribe(events.OfClient("/", "c"), func(err error) { b.Error(err) })
	defer requests.Close()
	done, answered := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(answered)
		for {
			select {
			case <-requests.Ready():
			case <-done:
				return
			}
			for frame, _ := requests.Next(); frame != nil; frame, _ = requests.Next() {
				r.Submit("/", "r", success("5"), nil)
			}
		}
	}()
	c := call("client_c_a", "r")
	cost := ratio.Of(func() {
		for range calls {
			if _, err := r.Execute(b.Context(), "/", c); err != nil {
				b.Fatal(err)
			}
		}
	})
	close(done)
	<-answered
	return cost
}

func channels(calls int) ratio.Cost {
	type request struct{ answer chan string }
	requests := make(chan request)
	go func() {
		for r := range requests {
			r.answer <- "5"
		}
	}()
	defer close(requests)
	return ratio.Of(func() {
		for range calls {
			r := request{make(chan string, 1)}
			requests <- r
			<-r.answer
		}
	})
}
