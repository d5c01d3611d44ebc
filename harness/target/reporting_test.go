//go:build unix

package target

import (
	"bufio"
	"net"
	"os"
	"testing"
	"time"
)

// hang is how long a test waits for something that must happen. It prevents a test from hanging, and measures nothing.
const hang = time.Minute

// A reportServer accepts connections from the processes of a test. A process keeps its connection as long as it lives.
// So the test can wait for its end without knowing its pid.
type reportServer struct {
	t        *testing.T
	listener *net.TCPListener
	reported map[string]*reporter
}

// A reporter is a process that has connected to a reportServer.
type reporter struct {
	t    *testing.T
	role string
	line net.Conn
	said *bufio.Reader
}

func newReportServer(t *testing.T) *reportServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &reportServer{t: t, listener: listener.(*net.TCPListener), reported: map[string]*reporter{}}
	t.Cleanup(func() {
		listener.Close()
		for _, m := range c.reported {
			m.line.Close()
		}
	})
	return c
}

func (c *reportServer) address() string { return c.listener.Addr().String() }

// awaitReport waits until a process of a role has reported.
func (c *reportServer) awaitReport(role string) *reporter {
	c.t.Helper()
	for c.reported[role] == nil {
		c.listener.SetDeadline(time.Now().Add(hang))
		line, err := c.listener.Accept()
		if err != nil {
			c.t.Fatalf("waiting for %q to report: %v", role, err)
		}
		line.SetReadDeadline(time.Now().Add(hang))
		m := &reporter{t: c.t, line: line, said: bufio.NewReader(line)}
		m.role = m.readLine()
		c.reported[m.role] = m
	}
	return c.reported[role]
}

// readLine returns the next line that the process sends.
func (m *reporter) readLine() string {
	m.t.Helper()
	text, err := m.said.ReadString('\n')
	if err != nil {
		m.t.Fatalf("waiting for %q to say something: %v", m.role, err)
	}
	return text[:len(text)-1]
}

// awaitLine waits until the process sends a line.
func (m *reporter) awaitLine(want string) {
	m.t.Helper()
	for m.readLine() != want {
	}
}

// awaitExit waits until the process has ended.
func (m *reporter) awaitExit() {
	m.t.Helper()
	for {
		_, err := m.said.ReadByte()
		if os.IsTimeout(err) {
			m.t.Fatalf("%q is still there", m.role)
		}
		if err != nil {
			return
		}
	}
}

// roleSpec returns the spec of a target that plays a role. Its time limit is hang, so no test depends on how fast a
// process starts.
func roleSpec(role string) Spec {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Spec{
		Name:    role,
		Command: []string{self, "${{ host }}:${{ port }}"},
		Env: map[string]string{
			roleVariable: role,
			"GORACE":     "atexit_sleep_ms=0", // otherwise the race detector would keep each process for a second
		},
		Ready: Ready{Within: hang},
		Stop:  Stop{Grace: hang, Kill: hang},
	}
}

func (c *reportServer) roleSpec(role string) Spec {
	spec := roleSpec(role)
	spec.Env[reportVariable] = c.address()
	return spec
}

// start starts a target and stops it at the end of the test.
func start(t *testing.T, spec Spec) *Target {
	t.Helper()
	slow(t)
	target, err := Start(t.Context(), spec, nil)
	if err != nil {
		t.Fatalf("Start: %v\n%s", err, lines(err))
	}
	t.Cleanup(func() { target.Stop(cancelled()) })
	return target
}
