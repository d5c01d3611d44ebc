package run

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/runqueue"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/stub"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// A Target is a server on which scenarios run. Several scenarios can use it at the same time.
type Target struct {
	Name   string
	Client *httpwire.Client  // nil when the target is a program
	Header transcript.Header // sent with every request
	// Directory is the target's own directory, or "".
	Directory string
	// Lockstep is the path of the lockstep program, for targets that start it as an MCP server.
	Lockstep string
	// Process is set when lockstep started the target.
	Process Process
	// Since is when that process was started.
	Since time.Time
	// Program is set when the target is a program. It starts one process, which ends with the run at the latest.
	// When ctx has ended, nothing starts.
	Program func(ctx context.Context, o ProgramOptions) (Program, error)
	// Watch, when set, is called for each step on the target.
	Watch Watch
	// Stubs are the upstreams that the target calls, by name.
	Stubs map[string]*stub.Server

	lateHeads sync.Map // operations that sent the head late on their last stream, see awaitHead
}

// A Process is a target's process that lockstep started.
type Process interface {
	Exited() <-chan struct{}
	ExitStatus() string // valid once Exited is closed
	Log() []string      // its last lines
	UnderWay() []string // the steps that were running when it ended, in all scenarios that share it; valid once Exited is closed
	// Terminate asks the process to exit, waits for its exit, and returns how it ended.
	Terminate(ctx context.Context) (status string, err error)
	// Grace is how long the process may take to exit before a restart kills it.
	Grace() time.Duration
	// Kill kills the process, waits for its exit, and returns how it ended.
	Kill(ctx context.Context) (status string, err error)
	// Restart starts the process again in the same place and returns when it is ready. It first ends what is left of
	// the old one.
	Restart(ctx context.Context) error
	// Processors returns the processor time that the process got and waited for. The measurement is at most age old. It
	// returns false when the system does not know.
	Processors(age time.Duration) (runqueue.Use, bool)
}

// A Contract answers the questions of a run about the contract.
type Contract interface {
	// Operation returns the method and path template of a request, such as "GET /event", or "".
	Operation(method, target string) string
	// EventNamer returns a function for one stream of an operation, which returns what the contract calls an event. It
	// gets all events of the stream in their order, sent ones too. The operation of a socket is that of its request, and
	// that of a program is "program".
	EventNamer(operation string) func(*transcript.Event) string
	// Objections returns all ways in which a request breaks the contract.
	Objections(method, target string, h transcript.Header, body []byte) []scenario.Objection
	// MessageObjections returns all ways in which a message breaks the contract that is about to be sent on a stream of an
	// operation. The event has Item, Data and Sent, and the Name that the stream's namer returned for it. Only messages
	// that are marked malformed may break the contract. Name the message before its bytes are written, so that the namer
	// knows a JSON-RPC request before its response can arrive.
	MessageObjections(operation string, ev *transcript.Event) []scenario.Objection
}

// Options hold the limits of a run and what it needs to know. All fields but Recorded and YieldWhile are required.
type Options struct {
	Step     time.Duration // limit of a step that has no limit of its own
	Scenario time.Duration // limit of a scenario that has no limit of its own
	Settle   time.Duration // how long a slower target may take to catch up
	Events   int           // how many events of a stream are kept
	Seed     uint64        // decides which target starts a step
	Contract Contract
	// Processors returns the processor use of lockstep itself, as [Process] does for a target.
	Processors func(age time.Duration) (runqueue.Use, bool)
	// Outside reports whether an event is not part of the sequence that is compared, such as a heartbeat. It gets the
	// stream's name and operation.
	Outside func(stream, operation string, ev *transcript.Event) bool
	// Recorded is the transcript of a reference that does not run now; nil when all targets run. A target that is
	// slower than the recording gets time to catch up, as with a running reference.
	Recorded *transcript.Transcript
	// YieldWhile calls a function that only waits, and lets other scenarios run meanwhile. When nil, the function is
	// called directly.
	YieldWhile func(wait func())
}

func (o *Options) yieldWhile(wait func()) {
	if o.YieldWhile == nil {
		wait()
	} else {
		o.YieldWhile(wait)
	}
}

// settling returns a context for the wait until slower targets have caught up.
func (o *Options) settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return withPatience(ctx, o.Settle)
}

// A timeoutError says which limit ended something.
type timeoutError struct {
	of    string // "step", "scenario", "settle limit", or "stop" of the target
	after time.Duration
}

func (e *timeoutError) Error() string { return fmt.Sprintf("the %s's %s were over", e.of, e.after) }

// Is makes the error a [context.DeadlineExceeded].
func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }
