//go:build !unix

package main

import (
	"os"
	"syscall"
)

// writeErrorSignals are the signals that come with a failed write. Systems without such signals never send them.
func writeErrorSignals() []os.Signal { return []os.Signal{syscall.SIGPIPE} }
