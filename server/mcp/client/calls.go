package client

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
)

// A runningCall is a call that may receive notifications and questions.
type runningCall struct {
	ctx context.Context
	toolbox.Call
}

// runningCalls are the running calls of one connection, oldest first.
type runningCalls struct {
	mu    sync.Mutex
	calls []*runningCall
}

func (r *runningCalls) begin(c *runningCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
}

func (r *runningCalls) finish(c *runningCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = slices.DeleteFunc(r.calls, func(other *runningCall) bool { return other == c })
}

// notify passes a notification to all running calls (GA 18.4).
func (r *runningCalls) notify(method string, params json.RawMessage) {
	if params == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		c.Notify(toolbox.Notification{Method: method, Params: params})
	}
}

// first returns the oldest running call, or nil if there is none.
func (r *runningCalls) first() *runningCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls) == 0 {
		return nil
	}
	return r.calls[0]
}
