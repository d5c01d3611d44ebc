//go:build !unix

package main

import (
	"os"
	"syscall"
)

// writeErrorSignals are the signals that come with a write that fails. Where there are none, nothing is listened to.
func writeErrorSignals() []os.Signal { return []os.Signal{syscall.SIGPIPE} }
