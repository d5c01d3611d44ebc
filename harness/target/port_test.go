package target

import (
	"strings"
	"testing"
)

func TestLogsThatSayAddressInUse(t *testing.T) {
	for text, want := range map[string]bool{
		"listen tcp 127.0.0.1:80: bind: address already in use":                                    true, // Go
		"Error: listen EADDRINUSE: address already in use 127.0.0.1:80":                            true, // Node
		"OSError: [Errno 98] Address already in use":                                               true, // Python
		"java.net.BindException: Address already in use":                                           true,
		"Web server failed to start. Port 80 was already in use.":                                  true, // Spring Boot
		"Os { code: 98, kind: AddrInUse, message: \"Address already in use\" }":                    true, // Rust
		"Address already in use - bind(2) for \"127.0.0.1\" port 80 (Errno::EADDRINUSE)":           true, // Ruby
		"System.IO.IOException: Failed to bind to address http://[::]:80: address already in use.": true, // .NET
		"bind: permission denied":                                                                  false,
		"the port in use is 80":                                                                    false,
	} {
		log := []Line{{Stderr, "starting", false}, {Stderr, text, false}, {Stderr, strings.Repeat("at frame\n", 3), false}}
		if got := saysAddressInUse(log); got != want {
			t.Errorf("saysAddressInUse(%q) = %t", text, got)
		}
	}
}

func TestLogsThatNameThePortThatIsTaken(t *testing.T) {
	for text, want := range map[string]int{
		"listen tcp 127.0.0.1:3000: bind: address already in use":                     3000, // Go
		"2026/03/01 12:00:01 listen tcp :3000: bind: address already in use":          3000,
		"Error: listen EADDRINUSE: address already in use :::3000":                    3000, // Node
		`{"time":"12:00:01","msg":"EADDRINUSE","port":3000}`:                          3000,
		"Web server failed to start. Port 3000 was already in use.":                   3000, // Spring
		"Failed to bind to address http://[::]:3000: address already in use.":         3000, // .NET
		"http://localhost:3000: address already in use":                               3000,
		"listen tcp 127.0.0.1:41873: bind: address already in use":                    0, // this is the target's own port
		"OSError: [Errno 98] Address already in use":                                  0, // Python
		"2026-03-01 12:00:01 bind: address already in use":                            0,
		"[12:00:01] worker 7 of 9: Address already in use":                            0,
		"connected to 127.0.0.1:3000":                                                 0,
		"address already in use: 127.0.0.1:3000 (while listening on 127.0.0.1:41873)": 0,
	} {
		if got := otherPort([]Line{{Stdout, "listening on :9090", false}, {Stderr, text, false}}, 41873); got != want {
			t.Errorf("otherPort(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestAReservedPortIsGivenOnlyOnce(t *testing.T) {
	slow(t)
	mine := freePort(t)
	if reserve(mine.number) {
		t.Errorf("port %d was reserved twice", mine.number)
	}
	mine.release()
	if !reserve(mine.number) {
		t.Fatalf("port %d is still reserved", mine.number)
	}
	again := &port{number: mine.number}
	defer again.release()
	mine.release()
	if reserve(mine.number) {
		t.Errorf("port %d is somebody else's now, and was reserved", mine.number)
	}
}

// freePort reserves a port on which no process listens, until the test ends.
func freePort(t *testing.T) *port {
	t.Helper()
	p, held, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.release)
	held.Close()
	return p
}

// slow marks a test that starts processes or opens ports.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes or opens ports")
	}
}
