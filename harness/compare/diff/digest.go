package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Fingerprint is a digest of texts that people can copy.
func Fingerprint(parts ...string) string { return Digest(parts...)[:8] }

// Digest is one text that stands for others.
func Digest(parts ...string) string { return Sum([]byte(strings.Join(parts, "\x00"))) }

// Sum returns the SHA-256 of a text, as digits.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
