package settings

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

var (
	integers = regexp.MustCompile(`^[+-]?[0-9]+$`)
	floats   = regexp.MustCompile(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)
)

// typed converts an environment variable to JSON (GA 1.4). A valid JSON text is taken as it is. Otherwise the value
// is true or false in any case, an integer, a number, or a string (decision G14).
func typed(value string) jsonwire.Text {
	value = strings.ToValidUTF8(value, "\uFFFD")
	if parsed, err := jsonwire.Parse([]byte(value)); err == nil && !strings.HasPrefix(value, "\uFEFF") {
		return parsed
	}
	if lower := strings.ToLower(value); lower == "true" || lower == "false" {
		return jsonwire.Text(lower)
	}
	if integers.MatchString(value) {
		if n, ok := new(big.Int).SetString(strings.TrimPrefix(value, "+"), 10); ok && n.IsInt64() {
			return jsonwire.Text(n.String())
		}
	}
	if floats.MatchString(value) {
		if f, err := strconv.ParseFloat(value, 64); err == nil && !math.IsInf(f, 0) {
			return jsonwire.Text(strconv.FormatFloat(f, 'g', -1, 64))
		}
	}
	return jsonwire.AppendQuoted(nil, value)
}
