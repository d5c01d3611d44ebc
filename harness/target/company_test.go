//go:build unix

package target

import (
	"bufio"
	"net"
	"os"
	"testing"
	"time"
)

// hang is how long a test waits for what has to happen. It is a guard against hanging, never a measure.
const hang = time.Minute

// A company is where the processes of a test report. Each keeps its connection for as long as it lives, so that its end
// can be waited for without asking for pids.
type company struct {
	t        *testing.T
	listener *net.TCPListener
	met      map[string]*member
}

// A member is a process that has reported.
type member struct {
	t    *testing.T
	role string
	line net.Conn
	said *bufio.Reader
}

func newCompany(t *testing.T) *company {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &company{t: t, listener: listener.(*net.TCPListener), met: map[string]*member{}}
	t.Cleanup(func() {
		listener.Close()
		for _, m := range c.met {
			m.line.Close()
		}
	})
	return c
}

func (c *company) address() string { return c.listener.Addr().String() }

// meet returns the next process of that role, waiting for it to report.
func (c *company) meet(role string) *member {
	c.t.Helper()
	for c.met[role] == nil {
		c.listener.SetDeadline(time.Now().Add(hang))
		line, err := c.listener.Accept()
		if err != nil {
			c.t.Fatalf("waiting for %q to report: %v", role, err)
		}
		line.SetReadDeadline(time.Now().Add(hang))
		m := &member{t: c.t, line: line, said: bufio.NewReader(line)}
		m.role = m.listen()
		c.met[m.role] = m
	}
	return c.met[role]
}

// listen returns the next line that the process tells.
func (m *member) listen() string {
	m.t.Helper()
	text, err := m.said.ReadString('\n')
	if err != nil {
		m.t.Fatalf("waiting for %q to say something: %v", m.role, err)
	}
	return text[:len(text)-1]
}

// hears waits until the process tells a line.
func (m *member) hears(want string) {
	m.t.Helper()
	for m.listen() != want {
	}
}

// gone waits until the process has ended.
func (m *member) gone() {
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

// cast returns the spec of a target that plays a role. Ready takes its bound from hang: no test depends on how fast a
// process starts.
func cast(role string) Spec {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Spec{
		Name:    role,
		Command: []string{self, "${{ host }}:${{ port }}"},
		Env: map[string]string{
			roleVariable: role,
			"GORACE":     "atexit_sleep_ms=0", // the race detector would keep each process for a second
		},
		Ready: Ready{Within: hang},
		Stop:  Stop{Grace: hang, Kill: hang},
	}
}

// cast returns the spec of a target that reports to the company.
func (c *company) cast(role string) Spec {
	spec := cast(role)
	spec.Env[companyVariable] = c.address()
	return spec
}

// start starts a target and sees to its end.
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
