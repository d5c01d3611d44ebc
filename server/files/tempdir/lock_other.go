//go:build !unix || aix || solaris

package tempdir

import "os"

// locked does nothing on this system, so no directory is ever swept.
func locked(string) (*os.File, error) { return nil, nil }

func abandoned(string) *os.File { return nil }

// Private reports whether a path is a directory and not a link.
func Private(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
