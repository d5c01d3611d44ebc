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

// A port is a TCP port that nothing listens on and that no other start in this process gets.
//
// It is drawn from below the ports that systems give to connections that go out, because those of one busy machine, this
// program's own among them, would often take it. The harness holds it until just before the target is executed. In the
// time between, the port is anybody's: another process of the machine can be given it, and lostPort is there for that. Other starts of this
// process are the likelier thieves, which is why a port stays reserved until its target is ready or has failed.
type port struct {
	number   int
	listener net.Listener
}

// reserved are the ports of all starts under way in this process.
var reserved = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// Linux gives ports from 32768 to connections that go out, other systems from 49152 (RFC 6335 §6).
const firstPort, lastPort = 20_000, 32_767

// drawn is how many ports are tried before the kernel is asked for one.
const drawn = 64

// reservePort returns a port that is held until release and reserved until forget.
func reservePort() (*port, error) {
	for range drawn {
		number := firstPort + rand.IntN(lastPort-firstPort+1)
		listener, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(number)))
		if err != nil {
			continue // it is taken
		}
		if reserve(number) {
			return &port{number: number, listener: listener}, nil
		}
		listener.Close()
	}
	return anyFreePort()
}

// anyFreePort returns one that the kernel picks.
func anyFreePort() (*port, error) {
	for {
		listener, err := net.Listen("tcp4", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return nil, err
		}
		number := listener.Addr().(*net.TCPAddr).Port
		if reserve(number) {
			return &port{number: number, listener: listener}, nil
		}
		// Holding on to it while asking again makes the kernel name another one.
		defer listener.Close()
	}
}

func reserve(number int) bool {
	reserved.Lock()
	defer reserved.Unlock()
	if reserved.ports[number] {
		return false
	}
	reserved.ports[number] = true
	return true
}

// release makes the port free for the target to listen on. Nobody has connected to it, so nothing lingers.
func (p *port) release() {
	p.listener.Close()
}

// forget ends the reservation, and releases the port if that has not happened.
func (p *port) forget() {
	p.release()
	forget(p.number)
}

func forget(number int) {
	reserved.Lock()
	defer reserved.Unlock()
	delete(reserved.ports, number)
}

// holdPort returns a port that this process has reserved, if nothing listens on it.
func holdPort(number int) (*port, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(number)))
	if err != nil {
		return nil, err
	}
	return &port{number: number, listener: listener}, nil
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
