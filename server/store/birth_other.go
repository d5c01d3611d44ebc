//go:build !linux

package store

import "time"

// birth is not supported on this system.
func birth(string) (time.Time, bool) { return time.Time{}, false }
