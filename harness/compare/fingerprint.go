package compare

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// Fingerprint names what is said of a target, in so many parts: equal for what differs in nothing but values that the
// target has made up.
func Fingerprint(t *transcript.Transcript, parts ...string) string {
	b := newBindings(t, t)
	for i := range parts {
		parts[i] = b.skeleton(0, parts[i])
	}
	return digest(parts...)
}

// fingerprint names a difference. One between ids has none: there the values are what it is about.
func (c *comparison) fingerprint(d *Difference) string {
	if d.Kind == IdentityBroken {
		return ""
	}
	return digest(string(d.Kind), c.b.skeleton(0, d.Place), c.b.skeleton(0, d.Reference), c.b.skeleton(1, d.Candidate))
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return fmt.Sprintf("%x", sum[:8])
}
