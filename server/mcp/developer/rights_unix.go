//go:build unix

package developer

import (
	"io/fs"
	"os"
	"syscall"
)

// keepRights gives a file the owner and the mode of another file.
func keepRights(out *os.File, of fs.FileInfo) error {
	ours, err := out.Stat()
	if err != nil {
		return err
	}
	was, is := of.Sys().(*syscall.Stat_t), ours.Sys().(*syscall.Stat_t)
	if was.Uid != is.Uid || was.Gid != is.Gid {
		if err := out.Chown(int(was.Uid), int(was.Gid)); err != nil {
			return err
		}
	}
	return out.Chmod(of.Mode())
}
