package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScanRecognisesGeneratedValues(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string // "kind:value"
	}{
		{"plain words", "Unknown request ID", nil},
		{"a UUID", "id 0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a.", []string{"uuid:0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a"}},
		{"a UUID in upper case", "0B3F9C1E-7D2A-4C55-9A60-5F1E2D3C4B5A", []string{"uuid:0B3F9C1E-7D2A-4C55-9A60-5F1E2D3C4B5A"}},
		{"almost a UUID", "0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5ag", nil},
		{"a UUID with a wrong character", "0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4bxa", nil},
		{"a ULID", "01ARZ3NDEKTSV4RRFFQ69G5FAV", []string{"ulid:01ARZ3NDEKTSV4RRFFQ69G5FAV"}},
		{"too big for a ULID", "81ARZ3NDEKTSV4RRFFQ69G5FAV", nil},
		{"letters a ULID has not", "01ARZ3NDEKTSV4RRFFQ69G5FAU", nil},
		{"a prefixed id", "ses_0f3a9c1e7d2a", []string{"id:ses_0f3a9c1e7d2a"}},
		{"a prefixed id with a hyphen", "req-7Xk2mPq9Zr4T", []string{"id:req-7Xk2mPq9Zr4T"}},
		{"a word with an underscore", "tool_description", nil},
		{"a short id", "ses_1", nil},
		{"milliseconds", "1765000000000", []string{"ms:1765000000000"}},
		{"milliseconds in an id", "c1__1765000000000", []string{"ms:1765000000000"}},
		{"milliseconds behind a prefix", "c1_call_1765000000000", []string{"id:call_1765000000000"}},
		{"seconds", "1765000000", []string{"s:1765000000"}},
		{"a long number", "17650000000001", nil},
		{"a number of another century", "9765000000000", nil},
		{"a decimal", "1765000000.5", nil},
		{"the end of a decimal", "0.1765000000", nil},
		{"a time-out in milliseconds", "timed out after 30000ms", nil},
		{"RFC 3339", "at 2025-12-10T16:59:31.5Z!", []string{"time:2025-12-10T16:59:31.5Z"}},
		{"RFC 3339 with an offset", "2025-12-10T16:59:31+01:00", []string{"time:2025-12-10T16:59:31+01:00"}},
		{"a date", "2025-12-10", nil},
		{"a local time", "2025-12-10T16:59:31", nil},
		{"an HTTP date", "Wed, 10 Dec 2025 16:59:31 GMT", []string{"date:Wed, 10 Dec 2025 16:59:31 GMT"}},
		{"a loopback port", "http://127.0.0.1:43121/x", []string{"port:43121"}},
		{"a port by name", "localhost:80", []string{"port:80"}},
		{"a port over IPv6", "[::1]:8080", []string{"port:8080"}},
		{"another host's port", "10.0.0.1:8080", nil},
		{"two of them", "ses_0f3a9c1e7d2a/ses_1f3a9c1e7d2a", []string{"id:ses_0f3a9c1e7d2a", "id:ses_1f3a9c1e7d2a"}},
		{"the unique token", "client_c-utoken12345_add", []string{"unique:utoken12345"}},
		{"the unique token twice", "utoken12345utoken12345", []string{"unique:utoken12345", "unique:utoken12345"}},
		{"nothing", "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, tok := range scan(tc.text, []knownValue{{"utoken12345", tokUnique}}) {
				got = append(got, tok.kind.String()+":"+tc.text[tok.start:tok.end])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("scan(%q) (-want +got):\n%s", tc.text, diff)
			}
		})
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"c-utok_1765000000000", "[::1]:80", "a 0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a", "\xff_\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for _, tok := range scan(s, []knownValue{{"utok", tokUnique}}) {
			if tok.start < at || tok.end <= tok.start || tok.end > len(s) {
				t.Fatalf("scan(%q): token %v after %d", s, tok, at)
			}
			at = tok.end
		}
	})
}
