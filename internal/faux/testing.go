package faux

import (
	"net"
	"slices"
	"testing"
)

// Listen returns a listener on a free port, which it closes when the test ends.
func Listen(t testing.TB) *net.TCPListener {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Serve runs a server on a free port until the test ends, and returns its URL.
func Serve(t testing.TB, s *Server) string {
	t.Helper()
	l := Listen(t)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return "http://" + l.Addr().String()
}

// Named returns the fault with this ID; nil for "".
func Named(t testing.TB, id string) *Fault {
	t.Helper()
	if id == "" {
		return nil
	}
	for _, f := range slices.Concat(Faults(), Nulls(), Processes(), Clocks()) {
		if f.ID == id {
			return f
		}
	}
	t.Fatalf("there is no fault %q", id)
	return nil
}
