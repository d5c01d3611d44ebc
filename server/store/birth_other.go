//go:build !linux

package store

import "time"

// birth does not know when a file was made.
func birth(string) (time.Time, bool) { return time.Time{}, false }
