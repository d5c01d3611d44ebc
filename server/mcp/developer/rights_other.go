//go:build !unix

package developer

import (
	"io/fs"
	"os"
)

// keepRights gives a file the mode of another file.
func keepRights(out *os.File, of fs.FileInfo) error { return out.Chmod(of.Mode()) }
