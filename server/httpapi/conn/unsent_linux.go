package conn

import (
	"net"

	"golang.org/x/sys/unix"
)

// maxUnsent limits how much of an answer the kernel buffers beyond the client's receive window. By default, Linux
// would buffer up to 4 MiB for each client that does not read. That takes memory, and copying it delays other
// requests.
const maxUnsent = 64 << 10

// boundUnsent limits only unsent data. Data in flight is not affected.
func boundUnsent(nc net.Conn) {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return // the connection is closed
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent) // fails before Linux 3.12
	})
}
