package turn

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
)

// A Background runs tasks that outlive their requests, until the server stops.
type Background struct {
	ctx  context.Context
	stop context.CancelFunc
	log  *slog.Logger

	mu      sync.Mutex
	tasks   sync.WaitGroup
	running int
	over    bool
}

// maxTasks is the maximum number of tasks that run at the same time.
const maxTasks = 256

// NewBackground returns a background without tasks.
func NewBackground(log *slog.Logger) *Background {
	ctx, stop := context.WithCancel(context.Background())
	return &Background{ctx: ctx, stop: stop, log: log}
}

// Go starts a task, and returns false if too many are running or the background is closed. So it is only for optional
// tasks.
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

// Close cancels all tasks and waits for them.
func (b *Background) Close() {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	b.stop()
	b.tasks.Wait()
}

// caught logs a panic in a goroutine whose result nobody needs. It must be deferred.
func caught(log *slog.Logger, what string) {
	if broken := recover(); broken != nil {
		log.Error("panic in a "+what, "err", broken, "stack", string(debug.Stack()))
	}
}
