package turn

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
)

// A Background runs what outlives the request that began it, until the server stops.
type Background struct {
	ctx  context.Context
	stop context.CancelFunc
	log  *slog.Logger

	mu      sync.Mutex
	tasks   sync.WaitGroup
	running int
	over    bool
}

// maxTasks is how many tasks run at a time.
const maxTasks = 256

// NewBackground returns a background that runs nothing yet.
func NewBackground(log *slog.Logger) *Background {
	ctx, stop := context.WithCancel(context.Background())
	return &Background{ctx: ctx, stop: stop, log: log}
}

// Go runs a task, unless too many run already, or the background has been closed: only what can be left out belongs here.
func (b *Background) Go(task func(ctx context.Context)) (begun bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || b.running == maxTasks {
		return false
	}
	b.running++
	b.tasks.Go(func() {
		defer b.done()
		defer caught(b.log, "background task")
		task(b.ctx)
	})
	return true
}

func (b *Background) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running--
}

// Close ends all tasks and waits for them.
func (b *Background) Close() {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	b.stop()
	b.tasks.Wait()
}

// caught logs a panic of a goroutine that nothing depends on. It is deferred.
func caught(log *slog.Logger, what string) {
	if broken := recover(); broken != nil {
		log.Error("panic in a "+what, "err", broken, "stack", string(debug.Stack()))
	}
}
