//go:build !linux

package conn

import "net"

func boundUnsent(net.Conn) {}
