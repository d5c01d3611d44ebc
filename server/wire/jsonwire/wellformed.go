package jsonwire

import "bytes"

// WellFormed returns the text with U+FFFD in place of each lone surrogate, for what is read as strict JSON later.
func (t Text) WellFormed() Text {
	if !bytes.Contains(t, []byte(`\ud`)) {
		return t
	}
	out := make(Text, 0, len(t))
	for at := 0; at < len(t); at++ {
		switch {
		case t[at] != '\\':
			out = append(out, t[at])
		case t[at+1] == 'u' && t[at+2] == 'd': // canonical text has no other escape that begins like this
			out = append(out, "\uFFFD"...)
			at += len(`ud800`)
		default:
			out = append(out, t[at:at+2]...)
			at++
		}
	}
	if parsed, err := Parse(out); err == nil {
		out = parsed // names may have become equal
	}
	return out
}

// WellFormed returns a string of this package as UTF-8, with U+FFFD in place of each lone surrogate.
func WellFormed(s string) string { return Text(AppendQuoted(nil, s)).WellFormed().Str() }

// Levels returns the number of levels of objects and arrays.
func (t Text) Levels() int {
	depth, deepest := 0, 0
	for at := 0; at < len(t); at++ {
		switch t[at] {
		case '"':
			at = SkipString(t, at) - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}
