package redact

import (
	"encoding/base64"
	"strings"
	"testing"
)

// Secrets that servers generate in the same way have aliases of the same form.
func TestAnIDHasAnAliasOfItsShape(t *testing.T) {
	for _, tc := range []struct {
		name, secret string
		is           func(string) bool
	}{
		{"a ULID", "01ARZ3NDEKTSV4RRFFQ69G5FAV", isULID},
		{"a KSUID", "2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K", isKSUID},
		{"an ObjectID", "65f0c0ffee0123456789abcd", isObjectID},
		{"a UUID of version 4, without dashes", "0f8e77a01b2c4d3e8f90a1b2c3d4e5f6", isCompact},
		{"a UUID of version 7, without dashes", "019a2b3c4d5e7d3eaf90a1b2c3d4e5f6", isCompact},
	} {
		for _, lead := range []string{"", "ses_"} {
			got := alias(lead + tc.secret)
			if rest, ok := strings.CutPrefix(got, alias("ses_000000000000")[:len(lead)]); !ok || !tc.is(rest) || rest == tc.secret {
				t.Errorf("%s: the alias of %s is %s", tc.name, lead+tc.secret, got)
			}
		}
		if !tc.is(tc.secret) {
			t.Errorf("%s is not recognised", tc.name)
		}
	}
	if got := alias("2Gtv9hVbPcBrJ3Yf7X5Tq1mZs8K"); strings.HasPrefix(got, "2Gtv") {
		t.Errorf("the time that the secret begins with is in its alias: %s", got)
	}
}

func TestAPrefixHasAnAliasOfItsOwn(t *testing.T) {
	lead := func(secret string, n int) string { return alias(secret)[:n] }
	if a, b := lead("sk_live_51HabcDEF0123", 8), lead("sk_live_99zyxWVU9876", 8); a != b || a == "sk_live_" {
		t.Errorf("one prefix has the aliases %s and %s", a, b)
	}
	if lead("tok_abcdef0123456789", 4) == lead("key_abcdef0123456789", 4) {
		t.Error("two prefixes have one alias")
	}
	for _, words := range []string{"correct-horse-battery-staple", "pass_word", "hunter-hunter2hunter"} { // secrets that consist of words only
		if alias(words)[:5] == alias(words[:len(words)-1] + "x")[:5] {
			t.Errorf("the alias of %s begins like another's", words)
		}
	}
}

func TestAJWTHasAnAliasWithItsTimes(t *testing.T) {
	encode := base64.RawURLEncoding.EncodeToString
	const header, claims = `{"alg":"HS256","typ":"JWT"}`, `{"sub":"0f8e77a0-1b2c-4d3e-8f90-a1b2c3d4e5f6", "name": "Ann Ott","roles":["admin"],"iat":1764000000,"exp":1764003600}`
	secret := encode([]byte(header)) + "." + encode([]byte(claims)) + "." + encode([]byte("0123456789abcdef0123456789abcdef"))
	got := alias(secret)
	parts := strings.Split(got, ".")
	made, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"sub":"` + alias("0f8e77a0-1b2c-4d3e-8f90-a1b2c3d4e5f6") + `", "name": "` + alias("Ann Ott") + `","roles":["` + alias("admin") + `"],"iat":1764000000,"exp":1764003600}`
	if string(made) != want || len(got) != len(secret) || parts[0] != encode([]byte(header)) {
		t.Errorf("the alias has the claims %s, want %s", made, want)
	}
	if parts[2] == strings.Split(secret, ".")[2] || strings.Contains(string(made), "Ann") {
		t.Errorf("the alias is %s", got)
	}
	for _, none := range []string{"eyJhbGci.x.y", "eyJ." + encode([]byte(claims)) + ".x", encode([]byte(header)) + "." + encode([]byte(`{"a":"\u0041"}`)) + ".x"} {
		if _, ok := jwtAlias(none, nil); ok {
			t.Errorf("%s is taken for a JWT", none)
		}
	}
}
