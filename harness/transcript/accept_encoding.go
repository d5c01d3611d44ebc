package transcript

import (
	"strconv"
	"strings"
)

// AcceptsCoding reports whether the values of an Accept-Encoding name a coding. The name must be in the form that ContentCodings returns
// (RFC 9110 §12.5.3). Without the field the server may choose, but this function returns false.
func AcceptsCoding(values []string, name string) bool {
	any := false
	for element := range strings.SplitSeq(strings.Join(values, ","), ",") {
		listed, parameters, _ := strings.Cut(element, ";")
		switch canonicalCoding(listed) {
		case name:
			return !isZeroWeight(parameters)
		case "*": // "matches any available content coding not explicitly listed in the field"
			any = !isZeroWeight(parameters)
		}
	}
	return any
}

// isZeroWeight reports whether a weight is 0, which "means "not acceptable"" (§12.4.2).
func isZeroWeight(parameters string) bool {
	for parameter := range strings.SplitSeq(parameters, ";") {
		if name, value, _ := strings.Cut(parameter, "="); strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q == 0
		}
	}
	return false
}
