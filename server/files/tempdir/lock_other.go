//go:build !unix || aix || solaris

package tempdir

import "os"

// locked locks nothing here, and so nothing is swept.
func locked(string) (*os.File, error) { return nil, nil }

func abandoned(string) *os.File { return nil }

// Private says whether a path is a directory, and no link to one.
func Private(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
