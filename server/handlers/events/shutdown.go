package events

import (
	"cmp"
	"context"
	"slices"

	"github.com/lockstep-dev/lockstep/gen/api"
)

// Shutdown ends all streams (decision S19, steps 3 and 4). First, each directory with an open stream gets its
// disposal event, in the order in which their oldest streams were opened. That is the last event on the streams of
// directories. Then the streams end kind by kind, each after the events in its queue: those of directories, those of
// all directories, those of clients. Shutdown waits until the streams of one kind are closed before it ends the next.
// If ctx ends first, it tells all remaining streams to end, and returns the cause.
func (b *Bus) Shutdown(ctx context.Context) error {
	b.mu.Lock()
	for _, directory := range b.directories() {
		b.publish(directory, api.InstanceDisposedEvent{
			Type:       api.InstanceDisposedEventTypeServerInstanceDisposed,
			Properties: api.InstanceDisposed{Directory: directory},
		})
	}
	b.end(ofDirectory) // under the same lock, because nothing may follow the last event
	b.mu.Unlock()

	var err error
	for _, k := range kinds {
		b.mu.Lock()
		over := b.end(k)
		b.mu.Unlock()
		if err != nil {
			continue // no time is left to wait
		}
		select {
		case <-over:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	return err
}

// directories returns the directories with an open stream of their own, the one with the oldest stream first.
func (b *Bus) directories() []string {
	oldest := make(map[string]uint64)
	var directories []string
	for to, group := range b.groups {
		if to.kind != ofDirectory {
			continue
		}
		directories = append(directories, to.directory)
		oldest[to.directory] = slices.MinFunc(group, func(a, b *Subscription) int { return cmp.Compare(a.opened, b.opened) }).opened
	}
	slices.SortFunc(directories, func(a, b string) int { return cmp.Compare(oldest[a], oldest[b]) })
	return directories
}

// end tells all streams of a kind to end. The channel is closed when none of them is open.
func (b *Bus) end(k kind) <-chan struct{} {
	if b.over[k] != nil {
		return b.over[k]
	}
	b.over[k] = make(chan struct{})
	if b.open[k] == 0 {
		close(b.over[k])
	}
	for to, group := range b.groups {
		if to.kind == k {
			for _, s := range group {
				s.End()
			}
		}
	}
	return b.over[k]
}
