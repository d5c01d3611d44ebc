package store

import (
	"time"

	"golang.org/x/sys/unix"
)

// birth returns the creation time of a file, if the file system records it.
func birth(path string) (time.Time, bool) {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &s); err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}, false
	}
	return time.Unix(s.Btime.Sec, int64(s.Btime.Nsec)), true
}
