package clienttools

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// acceptableName matches the full tool IDs that providers of models accept as names.
var acceptableName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// The parts of an alias (CT 11.6).
const (
	aliasPrefix = "ct_"
	aliasDigits = 10 // of the hash, in hexadecimal
	aliasLength = 64
)

// offeredName returns the name under which models are offered a tool: its full ID, or an alias (CT 11.6).
func offeredName(clientID, toolID string) string {
	if acceptableName.MatchString(toolID) {
		return toolID
	}
	sum := sha256.Sum256([]byte(jsonwire.WellFormed(toolID)))
	short := strings.TrimPrefix(toolID, fullID(clientID, ""))
	plain := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, jsonwire.WellFormed(short))
	alias := aliasPrefix + hex.EncodeToString(sum[:])[:aliasDigits] + "_" + plain
	return alias[:min(len(alias), aliasLength)]
}
