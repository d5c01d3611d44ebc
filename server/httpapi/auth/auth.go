// Package auth checks the shared secret of the goose-server family (GA 2.2).
package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"

	"github.com/lockstep-dev/lockstep/server/httpapi/urlpath"
)

// Header is the header field with the secret.
const Header = "X-Secret-Key"

// open are the paths that need no secret in the header. /status needs none at all, and /mcp-ui-proxy has one in its
// query.
var open = []urlpath.Path{{"status"}, {"mcp-ui-proxy"}}

// A Key checks secrets. A comparison takes the same time for right and wrong secrets of any length.
type Key struct{ sum [sha256.Size]byte }

// NewKey returns the key of a secret.
func NewKey(secret string) Key { return Key{sha256.Sum256([]byte(secret))} }

// Opens reports whether a secret is the right one.
func (k Key) Opens(secret string) bool {
	sum := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 1
}

// Allows reports whether a request may pass: its path is open, or it has the right secret, once and in ASCII.
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
