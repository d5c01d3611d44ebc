package target

import (
	"math/rand/v2"
	"net"
	"regexp"
	"strconv"
	"sync"
)

// loopback is where targets listen: nobody else's machine has to reach them.
const loopback = "127.0.0.1"

// A port is a TCP port that no other target gets, of this process or of another lockstep on the machine, from when it is
// reserved until forget: also while nothing listens on it, because the target is starting or was killed.
//
// It is drawn from below the ports that systems give to connections that go out, because those of one busy machine, this
// program's own among them, would often take it. Somebody who is not a lockstep can still take it in the moment before the
// target listens, and lostPort is there for that.
type port struct {
	number int
	freed  sync.Once
}

// reserved are the ports of all targets of this process.
var reserved = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// Linux gives ports from 32768 to connections that go out, other systems from 49152 (RFC 6335 §6).
const firstPort, lastPort = 20_000, 32_767

// drawn is how many ports are tried before the kernel is asked for one.
const drawn = 64

// reservePort returns a port and who holds it until the target is executed.
func reservePort() (*port, net.Listener, error) {
	for range drawn {
		number := firstPort + rand.IntN(lastPort-firstPort+1)
		if !reserve(number) {
			continue
		}
		p := &port{number: number}
		if listener, err := p.hold(); err == nil {
			return p, listener, nil
		}
		p.forget() // it is taken
	}
	return anyFreePort()
}

// anyFreePort returns one that the kernel picks.
func anyFreePort() (*port, net.Listener, error) {
	for {
		listener, err := net.Listen("tcp4", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return nil, nil, err
		}
		number := listener.Addr().(*net.TCPAddr).Port
		if reserve(number) {
			return &port{number: number}, listener, nil
		}
		// Holding on to it while asking again makes the kernel name another one.
		defer listener.Close()
	}
}

// reserve reports whether the port was nobody's. The process is asked first: the system's locks are between processes.
func reserve(number int) bool {
	reserved.Lock()
	defer reserved.Unlock()
	if reserved.ports[number] || !lockPort(number) {
		return false
	}
	reserved.ports[number] = true
	return true
}

// hold listens on the port, so that nobody else does. Nobody connects to it, so nothing lingers when that is closed.
func (p *port) hold() (net.Listener, error) {
	return net.Listen("tcp4", p.address())
}

func (p *port) address() string { return net.JoinHostPort(loopback, strconv.Itoa(p.number)) }

// forget ends the reservation. It may be called again.
func (p *port) forget() {
	p.freed.Do(func() {
		reserved.Lock()
		defer reserved.Unlock()
		delete(reserved.ports, p.number)
		unlockPort(p.number)
	})
}

// addressInUse is how a server says that its port is taken: the C library's words, which Go, Python, Ruby and Rust
// repeat, the error's name for Node, and the words of Java's servers.
var addressInUse = regexp.MustCompile(`(?i)address (is )?(already )?in use|EADDRINUSE|port \d* ?(is |was )?already (in use|being used)`)

func saysAddressInUse(log []Line) bool {
	for _, line := range log {
		if addressInUse.MatchString(line.Text) {
			return true
		}
	}
	return false
}

// anyPort finds the port in a line about an address: "127.0.0.1:80", "[::]:80", ":::80", "localhost:80", "port 80". A
// time of day has none.
var anyPort = regexp.MustCompile(`(?i)(?:(?:\d+\.\d+\.\d+\.\d+|localhost|[\]*:\s]|^):|port\W{0,3})(\d{1,5})\b`)

// otherPort returns the port that a server could not have, when it says so and it is not the one it was given; 0 when
// there is none.
func otherPort(log []Line, given int) int {
	other := 0
	for _, line := range log {
		if !addressInUse.MatchString(line.Text) {
			continue
		}
		for _, m := range anyPort.FindAllStringSubmatch(line.Text, -1) {
			switch n, err := strconv.Atoi(m[1]); {
			case err != nil:
			case n == given:
				return 0
			case other == 0:
				other = n
			}
		}
	}
	return other
}
