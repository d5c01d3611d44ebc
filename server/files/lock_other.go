//go:build !unix || aix || solaris

package files

import "os"

// openLocked opens a directory. Locks are not implemented on this system.
func openLocked(path string) (*os.File, error) { return os.Open(path) }

// nonBlocking is not needed on this system.
const nonBlocking = 0

// flush does nothing on this system, where a directory cannot be flushed.
func flush(*os.File) error { return nil }
