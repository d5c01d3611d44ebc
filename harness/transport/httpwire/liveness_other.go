//go:build !unix

package httpwire

import "net"

// liveness returns nil, because this system cannot tell whether the server has closed an idle connection. So each
// exchange has its own connection.
func liveness(net.Conn, *[]byte) func() bool { return nil }
