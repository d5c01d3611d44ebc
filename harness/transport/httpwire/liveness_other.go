//go:build !unix

package httpwire

import "net"

// liveness returns nil: this system does not tell whether the server has closed an idle connection. So each exchange has a
// connection of its own.
func liveness(net.Conn, *[]byte) func() bool { return nil }
