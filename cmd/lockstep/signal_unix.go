//go:build unix

package main

import (
	"os"
	"syscall"
)

// brokenWrites are the signals that come with a write that fails: nobody reads, or the file is too large. The write returns
// an error too, and the program ends in order and says so. They are listened to and not ignored: what is started would
// inherit that.
func brokenWrites() []os.Signal { return []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ} }
