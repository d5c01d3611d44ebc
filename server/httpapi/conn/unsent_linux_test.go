package conn_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/server/httpapi/conn"
)

// TestTheSystemTakesLittleForAClientThatDoesNotRead: the kernel's buffer for a client that does not read takes the
// server's memory, and copying to it delays others.
func TestTheSystemTakesLittleForAClientThatDoesNotRead(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := conn.Listen(ln, 50*time.Millisecond)
	defer listener.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n, err := c.Write(make([]byte, 16<<20))
	if !errors.Is(err, conn.ErrStalled) || n > 512<<10 {
		t.Errorf("%d KiB were taken, then %v; want 512 KiB at most, then %v", n>>10, err, conn.ErrStalled)
	}
}
