package jsonwire

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// AppendQuoted appends a string as JSON with only the escapes that JSON requires, in their shortest form (CT 3.1). A
// lone surrogate becomes its escape again; any other invalid UTF-8 becomes U+FFFD.
func AppendQuoted[S string | []byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	copied := 0 // s[copied:i] needs no escape
	for i := 0; i < len(s); {
		size, plain := 1, false
		r := rune(s[i])
		if r < utf8.RuneSelf {
			plain = r >= ' ' && r != '"' && r != '\\'
		} else {
			r, size = decodeRune(s[i:])
			plain = !utf16.IsSurrogate(r) && (r != utf8.RuneError || size > 1)
		}
		if !plain {
			dst = append(dst, s[copied:i]...)
			dst = appendEscaped(dst, r)
			copied = i + size
		}
		i += size
	}
	dst = append(dst, s[copied:]...)
	return append(dst, '"')
}

// appendEscaped appends the escape of a character that needs one.
func appendEscaped(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	case utf8.RuneError: // the byte was not UTF-8
		return utf8.AppendRune(dst, utf8.RuneError)
	}
	return append(dst, '\\', 'u', hex[r>>12&0xf], hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
}

// decodeRune is utf8.DecodeRune that also decodes the three bytes of a surrogate.
func decodeRune[S string | []byte](s S) (rune, int) {
	if len(s) >= 3 && s[0] == 0xED && s[1]&0xE0 == 0xA0 && s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return utf8.DecodeRuneInString(string(s[:min(len(s), utf8.UTFMax)]))
}

// appendRune is utf8.AppendRune that also encodes surrogates.
func appendRune(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xED, 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
	}
	return utf8.AppendRune(dst, r)
}

// unquote decodes a valid JSON string.
func unquote(raw []byte) string {
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	return string(appendUnescaped(make([]byte, 0, len(raw)), raw))
}

// appendRequoted appends a valid JSON string in canonical form.
func appendRequoted(dst, raw []byte) []byte {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return append(dst, raw...) // without a backslash, a valid string needs no escapes
	}
	return AppendQuoted(dst, appendUnescaped(make([]byte, 0, len(inner)), inner))
}

// appendUnescaped appends the decoded content of a valid JSON string.
func appendUnescaped(dst, inner []byte) []byte {
	for {
		slash := bytes.IndexByte(inner, '\\')
		if slash < 0 {
			return append(dst, inner...)
		}
		dst = append(dst, inner[:slash]...)
		escape := inner[slash+1]
		inner = inner[slash+2:]
		switch escape {
		case 'b':
			dst = append(dst, '\b')
		case 't':
			dst = append(dst, '\t')
		case 'n':
			dst = append(dst, '\n')
		case 'f':
			dst = append(dst, '\f')
		case 'r':
			dst = append(dst, '\r')
		case 'u':
			r := hexRune(inner)
			inner = inner[4:]
			if len(inner) >= 6 && inner[0] == '\\' && inner[1] == 'u' {
				if pair := utf16.DecodeRune(r, hexRune(inner[2:])); pair != utf8.RuneError {
					r, inner = pair, inner[6:]
				}
			}
			dst = appendRune(dst, r)
		default: // a quote, a backslash or a slash stands for itself
			dst = append(dst, escape)
		}
	}
}

// hexRune reads four hexadecimal digits.
func hexRune(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits[:4]), 16, 16)
	return rune(n)
}
