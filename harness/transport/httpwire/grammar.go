package httpwire

// tokenBytes are the characters of a token (RFC 9110 §5.6.2).
var tokenBytes = func() (set [256]bool) {
	for _, b := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		set[b] = true
	}
	return set
}()

func isToken[T string | []byte](s T) bool {
	for i := range len(s) {
		if !tokenBytes[s[i]] {
			return false
		}
	}
	return len(s) > 0
}

// isBlank reports whether b is optional white space around the value of a field (OWS, RFC 9110 §5.6.3).
func isBlank(b byte) bool { return b == ' ' || b == '\t' }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
