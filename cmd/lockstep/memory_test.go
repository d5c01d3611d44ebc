package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestGrowthIsSmallInLargeHeaps(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 48 << 20: 100, 90 << 20: 15, 96 << 20: 15, 1 << 40: 15} {
		if got := growth(live); got != want {
			t.Errorf("growth(%d) = %d, want %d", live, got, want)
		}
	}
}

// ballast makes the heap of a test large.
var ballast []byte

func TestCollectRarelyLowersTheThresholdOfALargeHeap(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	ballast = make([]byte, largeHeap)
	defer func() { ballast = nil }()
	runtime.GC()
	end := collectRarely()
	percent := debug.SetGCPercent(rarely)
	if percent != inLargeHeaps {
		t.Errorf("at the beginning, the percentage is %d, want %d for a large heap", percent, inLargeHeaps)
	}
	for range 1000 {
		runtime.GC()
		runtime.Gosched() // the runtime calls adjust in a goroutine of its own
		if percent = debug.SetGCPercent(rarely); percent != rarely {
			break
		}
	}
	if percent != inLargeHeaps {
		t.Errorf("after collections of a large heap, the percentage is %d, want %d", percent, inLargeHeaps)
	}
	end()
	if now := debug.SetGCPercent(100); now != 100 {
		t.Errorf("after the end, the percentage is %d, want 100 as before", now)
	}
}
