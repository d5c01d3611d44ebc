package target

import (
	"math/rand/v2"
	"net"
	"regexp"
	"strconv"
	"sync"
)

// loopback is the address on which targets listen, so that no other machine can reach them.
const loopback = "127.0.0.1"

// A port is a TCP port that is reserved for one target. Until it is released, no other target gets it, neither of this
// process nor of another lockstep on the machine, even while nothing listens on it.
//
// It is below the range from which systems take ports for outgoing connections, because on a busy machine these would
// often take it. Another program can still take it in the moment before the target listens, see lostPort.
type port struct {
	number   int
	released sync.Once
}

var reserved = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// Linux uses ports from 32768 for outgoing connections, other systems from 49152 (RFC 6335 §6).
const firstPort, lastPort = 20_000, 32_767

// maxDraws is how many random ports are tried before the kernel is asked for one.
const maxDraws = 64

// reservePort returns a port, and a listener that occupies it until the target is executed.
func reservePort() (*port, net.Listener, error) {
	for range maxDraws {
		number := firstPort + rand.IntN(lastPort-firstPort+1)
		if !reserve(number) {
			continue
		}
		p := &port{number: number}
		if listener, err := p.listen(); err == nil {
			return p, listener, nil
		}
		p.release() // the port is in use
	}
	return anyFreePort()
}

// anyFreePort returns a port that the kernel chooses.
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
		// While this listener is open, the kernel chooses another port.
		defer listener.Close()
	}
}

// reserve reports whether no other target had reserved the port. This process needs its own table, because file locks
// work only between processes.
func reserve(number int) bool {
	reserved.Lock()
	defer reserved.Unlock()
	if reserved.ports[number] || !lockPort(number) {
		return false
	}
	reserved.ports[number] = true
	return true
}

// listen occupies the port. No client connects, so the port is free again as soon as the listener is closed.
func (p *port) listen() (net.Listener, error) {
	return net.Listen("tcp4", p.address())
}

func (p *port) address() string { return net.JoinHostPort(loopback, strconv.Itoa(p.number)) }

// release ends the reservation. It can be called several times.
func (p *port) release() {
	p.released.Do(func() {
		reserved.Lock()
		defer reserved.Unlock()
		delete(reserved.ports, p.number)
		unlockPort(p.number)
	})
}

// addressInUse matches what servers print when their port is in use. It knows the text of the C library, which Go,
// Python, Ruby and Rust repeat, the name of the error in Node, and the texts of Java's servers.
var addressInUse = regexp.MustCompile(`(?i)address (is )?(already )?in use|EADDRINUSE|port \d* ?(is |was )?already (in use|being used)`)

func saysAddressInUse(log []Line) bool {
	for _, line := range log {
		if addressInUse.MatchString(line.Text) {
			return true
		}
	}
	return false
}

// anyPort finds the port in a line about an address: "127.0.0.1:80", "[::]:80", ":::80", "localhost:80", "port 80". It
// does not match times of day.
var anyPort = regexp.MustCompile(`(?i)(?:(?:\d+\.\d+\.\d+\.\d+|localhost|[\]*:\s]|^):|port\W{0,3})(\d{1,5})\b`)

// otherPort returns the port that is in use according to a server's log. It returns 0 if that is the server's own port.
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
