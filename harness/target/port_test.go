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

func TestAReservedPortIsGivenToNobodyElse(t *testing.T) {
	slow(t)
	mine, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer mine.forget() // what the test itself reserves at its end, too
	mine.release()
	if reserve(mine.number) {
		t.Errorf("port %d was reserved twice", mine.number)
	}
	mine.forget()
	if !reserve(mine.number) {
		t.Errorf("port %d is still reserved", mine.number)
	}
}

// slow marks a test that starts processes or opens ports.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes or opens ports")
	}
}
