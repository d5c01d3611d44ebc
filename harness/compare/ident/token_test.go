package ident

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
		{"seconds and a part of one", "1765000000.5", []string{"decimal s:1765000000.5"}},
		{"seconds at the end of a sentence", "at 1765000000.", []string{"s:1765000000"}},
		{"a decimal", "1065000000.5", nil},
		{"milliseconds and a part of one", "1765000000000.5", nil},
		{"a version", "1765000000.5.1", nil},
		{"the end of a decimal", "0.1765000000", nil},
		{"a time-out in milliseconds", "timed out after 30000ms", nil},
		{"without a zone", "at 2025-12-10T16:59:31.5!", []string{"local time:2025-12-10T16:59:31.5"}},
		{"with a blank, without a zone", "2025-12-10 16:59:31, or so", []string{"local time with a blank:2025-12-10 16:59:31"}},
		{"with a blank", "2025-12-10 16:59:31+00:00", []string{"time with a blank:2025-12-10 16:59:31+00:00"}},
		{"a zone without a colon", "2025-12-10T16:59:31.25-0330", []string{"time with a bare zone:2025-12-10T16:59:31.25-0330"}},
		{"a zone of hours", "2025-12-10 16:59:31+00", []string{"time with a blank:2025-12-10 16:59:31+00"}},
		{"no time of day", "2025-12-10T16:59:3", nil},
		{"goes on", "2025-12-10T16:59:31x", nil},
		{"RFC 3339", "at 2025-12-10T16:59:31.5Z!", []string{"time:2025-12-10T16:59:31.5Z"}},
		{"RFC 3339 with an offset", "2025-12-10T16:59:31+01:00", []string{"time:2025-12-10T16:59:31+01:00"}},
		{"a date", "2025-12-10", nil},
		{"an HTTP date", "Wed, 10 Dec 2025 16:59:31 GMT", []string{"date:Wed, 10 Dec 2025 16:59:31 GMT"}},
		{"a loopback port", "http://127.0.0.1:43121/x", []string{"port:43121"}},
		{"a port by name", "localhost:80", []string{"port:80"}},
		{"a port over IPv6", "[::1]:8080", []string{"port:8080"}},
		{"another host's port", "10.0.0.1:8080", nil},
		{"two of them", "ses_0f3a9c1e7d2a/ses_1f3a9c1e7d2a", []string{"id:ses_0f3a9c1e7d2a", "id:ses_1f3a9c1e7d2a"}},
		{"the unique token", "client_c-utoken12345_add", []string{"unique:utoken12345"}},
		{"the unique token twice", "utoken12345utoken12345", []string{"unique:utoken12345", "unique:utoken12345"}},
		{"nothing", "", nil},

		{"a KSUID", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", []string{"ksuid:0ujtsYcgvSTl8PAuAdqWYSMnLOv"}},
		{"a KSUID of 2023", "2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K", []string{"ksuid:2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K"}},
		{"a KSUID in a path", "/items/2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K/parts", []string{"ksuid:2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K"}},
		{"a KSUID behind a prefix", "order_2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K", []string{"id:order_2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K"}},
		{"a KSUID of another century", "aWgEPTl1tmebfsQzFP4bxwgy80V", nil},
		{"27 letters", "abcdefghijklmnopqrstuvwxyza", nil},
		{"27 hexadecimal digits", "2e5f1d3c4b5a69788796a5b4c3d", nil},
		{"a number of 27 characters", "0x1234000000000000000000000", nil},
		{"28 characters", "2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8KK", nil},

		{"an ObjectID", "id=65f0a1b2c3d4e5f60718293a&x", []string{"objectid:65f0a1b2c3d4e5f60718293a"}},
		{"24 digits of another century", "f5f0a1b2c3d4e5f60718293a", nil},
		{"24 digits in upper case", "65F0A1B2C3D4E5F60718293A", nil},
		{"24 characters, one of which is no digit", "65f0a1b2c3d4e5f60718293g", nil},

		{"a compact UUID", "0b3f9c1e7d2a4c559a605f1e2d3c4b5a", []string{"uuid:0b3f9c1e7d2a4c559a605f1e2d3c4b5a"}},
		{"a compact UUID in upper case", "0B3F9C1E7D2A4C559A605F1E2D3C4B5A", []string{"uuid:0B3F9C1E7D2A4C559A605F1E2D3C4B5A"}},
		{"a compact UUID in both cases", "0B3F9C1E7D2A4C559A605f1e2d3c4b5a", nil},
		{"version 7, of 2024", "018e4a1b2c3d7e4f9a5b6c7d8e9f0a1b", []string{"uuid:018e4a1b2c3d7e4f9a5b6c7d8e9f0a1b"}},
		{"version 7, of another century", "f18e4a1b2c3d7e4f9a5b6c7d8e9f0a1b", nil},
		{"version 1, of 2024", "0a1b2c3de1a011ee9a5b6c7d8e9f0a1b", []string{"uuid:0a1b2c3de1a011ee9a5b6c7d8e9f0a1b"}},
		{"version 1, of 1998", "0a1b2c3de1a011d29a5b6c7d8e9f0a1b", nil},
		{"version 6, of 2024", "1eee1a02c3d460009a5b6c7d8e9f0a1b", []string{"uuid:1eee1a02c3d460009a5b6c7d8e9f0a1b"}},
		{"an MD5 sum", "d41d8cd98f00b204e9800998ecf8427e", nil},
		{"a SHA-1 sum", "da39a3ee5e6b4b0d3255bfef95601890afd80709", nil},
		{"a SHA-256 sum", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", nil},

		{"a nanoid", "V1StGXR8_Z5jdHi6B-myT", []string{"nanoid:V1StGXR8_Z5jdHi6B-myT"}},
		{"a nanoid without joints", "V1StGXR8zZ5jdHi6BxmyT", []string{"nanoid:V1StGXR8zZ5jdHi6BxmyT"}},
		{"a nanoid that begins with a joint", "id -1StGXR8_Z5jdHi6B-myT", []string{"nanoid:-1StGXR8_Z5jdHi6B-myT"}},
		{"a nanoid that ends with one", "/x/V1StGXR8_Z5jdHi6B-my_/", []string{"nanoid:V1StGXR8_Z5jdHi6B-my_"}},
		{"a nanoid that begins like a prefix", "abcd-1f2A3b4C5d6E7f-g", []string{"nanoid:abcd-1f2A3b4C5d6E7f-g"}},
		{"a nanoid behind a prefix", "usr_V1StGXR8_Z5jdHi6B-myT", []string{"id:usr_V1StGXR8_Z5jdHi6B-myT"}},
		{"a nanoid that is a part of a longer word", "xx-V1StGXR8_Z5jdHi6B-myT-x", nil},
		{"kebab case", "use-this-name-for-it1", nil},
		{"snake case", "A_snake_case_name_21x", nil},
		{"humps", "getUserAccountDetails", nil},
		{"humps with a digit", "getUserV2AccountDetai", []string{"nanoid:getUserV2AccountDetai"}}, // accepted: if both sides have it, it is bound to itself
		{"a title", "Q3-2024-Report-Final1", nil},
		{"capitals", "CONTENT_TYPE_MISSING1", nil},
		{"22 characters", "V1StGXR8_Z5jdHi6B-myTx", nil},
		{"a nanoid that a known value goes on with", "V1StGXR8_Z5jdHi6B-myTutoken12345", []string{"unique:utoken12345"}},
		{"a nanoid behind an escape", "x%3AV1StGXR8_Z5jdHi6B-myT", []string{"nanoid:V1StGXR8_Z5jdHi6B-myT"}},
		{"an id behind an escape", "x%2Fses_0f3a9c1e7d2a%2Fy", []string{"id:ses_0f3a9c1e7d2a"}},
		{"a UUID behind an escape", "x%3A0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a%20", []string{"uuid:0b3f9c1e-7d2a-4c55-9a60-5f1e2d3c4b5a"}},

		{"a traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", []string{"trace:4bf92f3577b34da6a3ce929d0e0e4736", "span:00f067aa0ba902b7"}},
		{"half a traceparent", "00-4bf92f3577b30da6a3ce929d0e0e4736-00f067aa0ba902b7", nil},

		{"a temporary folder", "/tmp/x7Yz12/out.txt", []string{"temp:x7Yz12"}},
		{"one with a word before", "in /tmp/agent-x7Yz12.", []string{"temp:agent-x7Yz12"}},
		{"a temporary file", "file:///var/tmp/x7Yz12.json", []string{"temp:x7Yz12"}},
		{"on a Mac", "/private/var/folders/zz/abc123/T/go-build77/b", []string{"temp:go-build77"}},
		{"percent-encoded", "?directory=%2Ftmp%2Fx7Yz12%2Fout", []string{"temp:x7Yz12"}},
		{"an id in a temporary folder", "/tmp/ses_0f3a9c1e7d2a/x", []string{"id:ses_0f3a9c1e7d2a"}},
		{"a known value in it", "/tmp/c-utoken12345/x", []string{"unique:utoken12345"}},
		{"a time in it", "/tmp/run.1765000000000/x", []string{"temp:run.1765000000000"}},
		{"a file that has a name", "/tmp/report.json", nil},
		{"the folder itself", "/tmp/", nil},
		{"a folder that is called so", "/data/tmp/x7Yz12", nil},
		{"a relative one", "./tmp/x7Yz12", nil},
		{"no temporary folder", "/var/log/x7Yz12", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, tok := range Scan(tc.text, []KnownValue{{"utoken12345", tokUnique}}) {
				got = append(got, tok.Kind.String()+":"+tc.text[tok.Start:tok.End])
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
		for _, tok := range Scan(s, []KnownValue{{"utok", tokUnique}}) {
			if tok.Start < at || tok.End <= tok.Start || tok.End > len(s) {
				t.Fatalf("scan(%q): token %v after %d", s, tok, at)
			}
			at = tok.End
		}
	})
}
