package schema

import (
	"encoding/base64"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A format is a value of the keyword `format` that lockstep can check. Others are annotations: "Formats such as
// "email", "uuid", and so on, MAY be used even though undefined by this specification" (OpenAPI 3.0.3, Data Types).
type format struct {
	want  string // "a date as in 2006-01-02"
	check func(text string) bool
}

// StringFormats apply only to strings, and numberFormats only to numbers.
var (
	StringFormats = map[string]format{
		"byte":      {"Base64", isBase64},
		"date":      {"a date like 2006-01-31", isDate},
		"date-time": {"a date and time like 2006-01-31T15:04:05Z", isDateTime},
		"email":     {"an e-mail address", email.MatchString},
		"ipv4":      {"an IPv4 address", func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is4() }},
		"ipv6":      {"an IPv6 address", func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is6() }},
		"uri":       {"a URI with its scheme", func(s string) bool { u, err := url.Parse(s); return err == nil && u.Scheme != "" }},
		"uuid":      {"a UUID", uuid.MatchString},
	}
	NumberFormats = map[string]format{
		"int32":  {"an integer of 32 bits", func(s string) bool { return isInt(s, 32) }},
		"int64":  {"an integer of 64 bits", func(s string) bool { return isInt(s, 64) }},
		"float":  {"a number in the range of a float", func(s string) bool { return isFloat(s, 32) }},
		"double": {"a number in the range of a double", func(s string) bool { return isFloat(s, 64) }},
	}
)

var (
	uuid  = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	email = regexp.MustCompile(`^[^@\s]+@[^@\s]+$`)
)

// isInt also returns true for a number that is not an integer, because that is a violation of the type and not of the
// format.
func isInt(s string, bits int) bool {
	_, err := strconv.ParseInt(s, 10, bits)
	return err == nil || !isInteger(s)
}

func isFloat(s string, bits int) bool {
	_, err := strconv.ParseFloat(s, bits)
	return err == nil
}

// isBase64 accepts both alphabets of RFC 4648, with or without padding, because the specification says only "base64
// encoded characters".
func isBase64(s string) bool {
	s = strings.TrimRight(s, "=")
	_, std := base64.RawStdEncoding.DecodeString(s)
	_, url := base64.RawURLEncoding.DecodeString(s)
	return std == nil || url == nil
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// isDateTime checks the form of RFC 3339 §5.6. time.Parse alone differs from it: it accepts a comma for a point, and
// rejects leap seconds and lower-case letters.
func isDateTime(s string) bool {
	s = strings.ToUpper(s)
	date, clock, ok := strings.Cut(s, "T")
	if !ok || !isDate(date) || strings.Contains(clock, ",") {
		return false
	}
	if len(clock) > 8 && clock[6:8] == "60" {
		clock = clock[:6] + "59" + clock[8:]
	}
	_, err := time.Parse("15:04:05Z07:00", clock)
	return err == nil && clock[2] == ':' // time.Parse also accepts an hour of one digit
}
