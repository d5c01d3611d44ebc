//go:build unix

package httpwire

import (
	"net"
	"syscall"
)

// liveness returns a check of whether an idle connection can be used for another exchange: the server has neither
// closed it nor sent anything. It returns nil when that cannot be checked.
//
// The sockets of package net do not block, so a read(2) is the check. What it reads is stored in unexpected, and then
// the connection is not used again.
func liveness(nc net.Conn, unexpected *[]byte) func() bool {
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
		some := make([]byte, maxExcerpt+1)
		n, err := syscall.Read(int(fd), some)
		*unexpected = some[:max(n, 0)]
		alive = n < 0 && (err == syscall.EAGAIN || err == syscall.EWOULDBLOCK)
		return true // it would wait for more
	}
	return func() bool {
		alive = false
		return len(*unexpected) == 0 && raw.Read(look) == nil && alive
	}
}
