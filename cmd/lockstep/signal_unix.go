//go:build unix

package main

import (
	"os"
	"syscall"
)

// writeErrorSignals are the signals of a write that fails because the reader is gone or the file is too large. The
// write also returns an error, which the program reports. The signals are caught and not ignored, because targets
// would inherit that.
func writeErrorSignals() []os.Signal { return []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ} }
