package conn

import (
	"net"

	"golang.org/x/sys/unix"
)

// maxUnsent is how much the system takes of an answer beyond what the client has room for. Linux would otherwise keep up
// to 4 MiB for each client that does not read, which is memory of the server as well, and copying it makes others wait.
const maxUnsent = 64 << 10

// boundUnsent changes nothing about what is on its way to the client.
func boundUnsent(nc net.Conn) {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return // it is closed
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent) // not known before Linux 3.12
	})
}
