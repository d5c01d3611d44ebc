//go:build unix

package httpwire

import (
	"net"
	"syscall"
)

// liveness returns a check of whether an idle connection could serve another exchange: the server has neither closed it
// nor sent anything, since nothing that comes now can be an answer. It returns nil when that cannot be told.
//
// The sockets of package net do not block, so that a plain read(2) is the check. What it takes goes to came: the connection is
// not used again then.
func liveness(nc net.Conn, came *[]byte) func() bool {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	var alive bool
	look := func(fd uintptr) bool {
		some := make([]byte, mostShown+1)
		n, err := syscall.Read(int(fd), some)
		*came = some[:max(n, 0)]
		alive = n < 0 && (err == syscall.EAGAIN || err == syscall.EWOULDBLOCK)
		return true // whatever it was: do not wait for more
	}
	return func() bool {
		alive = false
		return len(*came) == 0 && raw.Read(look) == nil && alive
	}
}
