package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// A collector sets when garbage is collected while a project is read.
//
// In a small project, collections would take an eighth of the start-up time, so they are rare. A contract of 13 MB needs
// 100 MB while it is read: rare collections would make that 400.
type collector struct {
	mu    sync.Mutex
	ended bool
}

const (
	largeHeap    = 96 << 20
	rarely       = 400 // percent of growth between two collections; see debug.SetGCPercent
	inLargeHeaps = 15
)

// collectRarely returns a function that ends it.
func collectRarely() (end func()) {
	before := debug.SetGCPercent(growth(live()))
	c := new(collector)
	c.watch()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = true
		debug.SetGCPercent(before)
	}
}

// watch calls adjust after the next collection, which finds that nothing refers to the object.
func (c *collector) watch() {
	object := &struct{ self *collector }{c} // with a pointer, because the runtime joins small objects without any
	runtime.AddCleanup(object, (*collector).adjust, c)
}

func (c *collector) adjust() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	debug.SetGCPercent(growth(live()))
	c.watch()
}

// live returns how much memory the last collection found in use; 0 before the first one.
func live() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}

// growth returns by how many percent a heap may grow until the next collection.
func growth(live uint64) int {
	room := (largeHeap - min(live, largeHeap)) * 100 / max(live, 1)
	return int(min(max(room, inLargeHeaps), rarely))
}
