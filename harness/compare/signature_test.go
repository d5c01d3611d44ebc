package compare

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tokenOf returns a JWT with one claim.
func tokenOf(sub, signature string) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"HS256"}`)) + "." + part(fmt.Appendf(nil, `{"sub":%q}`, sub)) + "." + signature
}

func TestASignatureIsOne(t *testing.T) {
	const (
		first  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
		second = "Xw9Zk3mB1q0LrT5uYcA7eVhN2sGdPfJi8oQxMzKlWbE"
		one    = "5f0c7a52-9f6e-4d1b-8c11-0000000abc01"
		other  = "5f0c7a52-9f6e-4d1b-8c11-0000000abc02"
	)
	zeros, exes := strings.Repeat("A", 43), base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("x", 32)))
	for _, tc := range []struct {
		name      string
		ref, cand []string
		want      []string
	}{
		{"both are", []string{tokenOf(one, first)}, []string{tokenOf(other, second)}, nil},
		{"zeros", []string{tokenOf(one, first)}, []string{tokenOf(other, zeros)}, []string{"the candidate's signature is the byte 0x00, 32 times"}},
		{"one character", []string{tokenOf(one, first)}, []string{tokenOf(other, exes)}, []string{"the candidate's signature is the byte 0x78, 32 times"}},
		{"none", []string{tokenOf(one, first)}, []string{tokenOf(other, "")}, []string{"the signatures are of different lengths"}},
		{"no Base64", []string{tokenOf(one, first)}, []string{tokenOf(other, strings.Repeat("!", 43))}, []string{"the candidate's signature is not Base64 (RFC 7515 §7.1)"}},
		{"zeros on both sides", []string{tokenOf(one, zeros)}, []string{tokenOf(other, zeros)}, nil},
		{"the reference's", []string{tokenOf(one, zeros)}, []string{tokenOf(other, first)}, []string{"the reference's signature is the byte 0x00, 32 times"}},
		{"one for two tokens", []string{tokenOf(one, first), tokenOf(other, second)}, []string{tokenOf(other, second), tokenOf(one, second)},
			[]string{"the candidate's signature is the same as that of another token"}},
		{"two tokens", []string{tokenOf(one, first), tokenOf(other, second)}, []string{tokenOf(uuidA, second), tokenOf(uuidX, first)}, nil},
		{"the same token again", []string{tokenOf(one, first), tokenOf(one, first)}, []string{tokenOf(other, second), tokenOf(other, second)}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := func(all []string) string {
				var members []string
				for i, token := range all {
					members = append(members, fmt.Sprintf(`"token%d":%q`, i, token))
				}
				return "{" + strings.Join(members, ",") + "}"
			}
			var got []string
			for _, d := range compared(newSide("ref").answers(body(tc.ref)), newSide("cand").answers(body(tc.cand)), nil).Differences {
				got = append(got, d.Text())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
		})
	}
}
