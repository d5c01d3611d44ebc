package decode

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Natural decodes an integer that is not negative.
func Natural(v Value) (int64, error) { return Within(0, math.MaxInt64)(v) }

// Within returns the decoder of integers from least to most.
func Within(least, most int64) func(Value) (int64, error) {
	return func(v Value) (int64, error) {
		n, err := v.Int()
		if err == nil && (n < least || n > most) {
			return 0, v.Fail("invalid value: integer out of range")
		}
		return n, err
	}
}

// dateTime is the format of RFC 3339 §5.6, with the blank that its note allows. Package time alone would accept
// commas, and no lower-case letters.
var dateTime = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$`)

var errNoTime = errors.New("not a date and time")

// Time decodes a time in the format of RFC 3339.
func Time(v Value) (time.Time, error) {
	text, err := v.Str()
	if err != nil {
		return time.Time{}, err
	}
	var t time.Time
	if err = errNoTime; dateTime.MatchString(text) {
		t, err = time.Parse(time.RFC3339Nano, strings.ToUpper(strings.Replace(text, " ", "T", 1)))
	}
	t = t.UTC()
	if err != nil || t.Year() < 0 || t.Year() > 9999 { // the time must have this format again when it is written
		return time.Time{}, v.Fail("invalid value: not a date and time of RFC 3339")
	}
	return t, nil
}

// OneOf returns the decoder of strings that must be one of the variants.
func OneOf(variants ...string) func(Value) (string, error) {
	return func(v Value) (string, error) {
		got, err := v.Str()
		if err != nil || slices.Contains(variants, got) {
			return got, err
		}
		quoted := make([]string, len(variants))
		for i, variant := range variants {
			quoted[i] = "`" + variant + "`"
		}
		return "", v.Fail("unknown variant `" + excerpt.Quoted(got) + "`, expected one of " + strings.Join(quoted, ", "))
	}
}

// AnyObject decodes an object with any content, in canonical form.
func AnyObject(v Value) (json.RawMessage, error) {
	if err := v.want("object"); err != nil {
		return nil, err
	}
	return v.Any(), nil
}

// Tag returns the field that says which variant an object is.
func Tag(v Value, name string, variants ...string) (string, error) {
	o := v.Object(name)
	return o.OneOf(name, variants...), o.Err()
}

// IsTagged reports whether an object is the given variant.
func IsTagged(v Value, name, variant string) bool {
	tag := v.Object(name).Get(name)
	return tag.Exists() && tag.kind() == "string" && jsonwire.Text(tag.raw()).Str() == variant
}
