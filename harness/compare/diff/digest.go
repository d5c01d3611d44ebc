package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Fingerprint is a digest that is short enough to copy by hand.
func Fingerprint(parts ...string) string { return Digest(parts...)[:8] }

// Digest hashes several texts into one.
func Digest(parts ...string) string { return Sum([]byte(strings.Join(parts, "\x00"))) }

// Sum returns the SHA-256 of a text in hexadecimal digits.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
