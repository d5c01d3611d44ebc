// Package auth asks for the shared secret of the goose-server family (GA 2.2).
package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"

	"github.com/lockstep-dev/lockstep/server/httpapi/urlpath"
)

// Header is the header field that holds the secret.
const Header = "X-Secret-Key"

// open are the paths that need no secret: the first looks at nothing, the second checks a secret of its query.
var open = []urlpath.Path{{"status"}, {"mcp-ui-proxy"}}

// A Key is a secret that requests are held against. Comparing takes as long for a wrong secret as for the right one,
// whatever their lengths.
type Key struct{ sum [sha256.Size]byte }

// NewKey returns the key of a secret.
func NewKey(secret string) Key { return Key{sha256.Sum256([]byte(secret))} }

// Opens says whether a secret is that of the key.
func (k Key) Opens(secret string) bool {
	sum := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 1
}

// Allows says whether a request may pass: its path is open, or it has the secret once and in ASCII.
func (k Key) Allows(path urlpath.Path, h http.Header) bool {
	if slices.ContainsFunc(open, func(p urlpath.Path) bool { return slices.Equal(p, path) }) {
		return true
	}
	given := h.Values(Header)
	return len(given) == 1 && isASCII(given[0]) && k.Opens(given[0])
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
