package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/runqueue"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// A Target is a server that scenarios are driven against. Several scenarios can use it at the same time.
type Target struct {
	Name   string
	Client *httpwire.Client
	Header transcript.Header // sent with every request
	// Directory belongs to the target alone; "" when it has none.
	Directory string
	// Lockstep is the path of the lockstep program, for targets that start it as an MCP server.
	Lockstep string
	// Process is set when the harness started the target.
	Process Process
	// Since is when that process was started.
	Since time.Time
	// Watch, when set, is called for each step on the target.
	Watch Watch
	// Stubs are the upstreams that it calls, by name.
	Stubs map[string]*stub.Server

	lateHeads sync.Map // operations whose last stream sent its response head late, see awaitHead
}

// Process is the life of a target that the harness started.
type Process interface {
	Exited() <-chan struct{}
	ExitStatus() string // once Exited is closed
	Log() []string      // its last lines
	UnderWay() []string // what it was doing when it ended, in all scenarios that share it; once Exited is closed
	// Terminate asks it to end, waits until it has, and returns how it ended.
	Terminate(ctx context.Context) (status string, err error)
	// Grace is how long it may take to end before it is started again.
	Grace() time.Duration
	// Kill ends it without asking, waits until it has ended, and returns how it ended.
	Kill(ctx context.Context) (status string, err error)
	// Restart starts it again in the same place, and returns when it is ready. Whatever is left of it is ended first.
	Restart(ctx context.Context) error
	// Processors returns its use of the processors, measured no longer ago than age; false when that is not known.
	Processors(age time.Duration) (runqueue.Use, bool)
}

// Contract is what a run needs to know of the contract.
type Contract interface {
	// Operation returns the method and path template of a request, "GET /event", or "".
	Operation(method, target string) string
	// EventName returns what the contract calls an event of a stream's operation.
	EventName(operation string, ev *transcript.Event) string
	// Objections returns how a request breaks the contract.
	Objections(method, target string, h transcript.Header, body []byte) []Objection
}

// An Objection is one way in which a request breaks the contract.
type Objection struct {
	Place string // "path id", "query shelf", "header X-Id", "body/items/0"
	Text  string
	// Value says that the type at the place is right, and only the value is wrong.
	Value bool
}

// Options bound and inform a run. All fields but Recorded and YieldWhile are required.
type Options struct {
	Step     time.Duration // a step that names no bound of its own
	Scenario time.Duration // a scenario that names no limit of its own
	Settle   time.Duration // how long a target that lags behind may take to catch up
	Events   int           // events of a stream that are kept
	Seed     uint64        // decides which target starts a step
	Contract Contract
	// Processors returns the harness's own use of the processors, as [Process] does.
	Processors func(age time.Duration) (runqueue.Use, bool)
	// Heartbeat reports whether an event only keeps its stream alive. Streams are known by name and by operation.
	Heartbeat func(stream, operation string, ev *transcript.Event) bool
	// Recorded is the transcript of a reference that is not running now; nil when all targets run. A target that lags
	// behind it may catch up, as with another target.
	Recorded *transcript.Transcript
	// YieldWhile calls a function that only waits, and lets other scenarios run meanwhile. When nil, the function is just called.
	YieldWhile func(wait func())
}

func (o *Options) yieldWhile(wait func()) {
	if o.YieldWhile == nil {
		wait()
	} else {
		o.YieldWhile(wait)
	}
}

// settling bounds the wait for a target that lags behind.
func (o *Options) settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return withPatience(ctx, o.Settle)
}

// A timeoutError says which bound cut something short.
type timeoutError struct {
	of    string // "step", "scenario", "settle limit", or "stop" of the target
	after time.Duration
}

func (e *timeoutError) Error() string { return fmt.Sprintf("the %s's %s were over", e.of, e.after) }

// Is makes the error a [context.DeadlineExceeded].
func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }
