//go:build !unix

package main

import (
	"os"
	"syscall"
)

// brokenWrites are the signals that come with a write that fails. Where there are none, nothing is listened to.
func brokenWrites() []os.Signal { return []os.Signal{syscall.SIGPIPE} }
