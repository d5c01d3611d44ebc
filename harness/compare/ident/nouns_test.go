package ident

import "testing"

func TestThings(t *testing.T) {
	for _, tc := range [][2]string{
		{"requestID", "request"}, {"request_id", "request"}, {"requestId", "request"}, {"sessions", "session"}, {"entries", "entry"}, {"session", "session"},
		{"id", ""}, {"items", ""}, {"ID", ""}, {"0", ""}, {"a b", ""}, {"address", "address"}, {"properties", ""}, {"clientToolID", "clientTool"},
	} {
		if got := nounOf(tc[0]); got != tc[1] {
			t.Errorf("thing(%q) = %q, want %q", tc[0], got, tc[1])
		}
	}
}
