package signin

import (
	"net/url"
	"strings"
)

// canonical returns a text that is the same for the same URLs (decision X38).
func canonical(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	at := withoutDots(unescaped(u.EscapedPath()))
	if u.RawQuery != "" {
		at += "?" + unescaped(u.RawQuery)
	}
	return u.Scheme + "://" + host + at
}

// unescaped decodes the escapes of unreserved characters, and writes the others in upper case.
func unescaped(text string) string {
	var b strings.Builder
	for at := 0; at < len(text); at++ {
		if text[at] != '%' || at+2 >= len(text) {
			b.WriteByte(text[at])
			continue
		}
		escape := strings.ToUpper(text[at : at+3])
		if c, err := url.PathUnescape(escape); err == nil && len(c) == 1 && isUnreserved(c[0]) {
			escape = c
		}
		b.WriteString(escape)
		at += 2
	}
	return b.String()
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// withoutDots removes the dot segments of a path (RFC 3986 §5.2.4). Empty segments stay.
func withoutDots(escaped string) string {
	var kept []string
	segments := strings.Split(strings.TrimPrefix(escaped, "/"), "/")
	for i, segment := range segments {
		last := i == len(segments)-1
		switch segment {
		case ".", "..":
			if segment == ".." && len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
			if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, segment)
		}
	}
	return "/" + strings.Join(kept, "/")
}

// usable returns the URL of an endpoint, a document or a server, if it may be asked (decision X51).
func usable(text string, uri *url.URL) (*url.URL, bool) {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' || c == '#' {
			return nil, false
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Opaque != "" {
		return nil, false
	}
	return u, u.Scheme == "https" || u.Scheme == "http" && uri.Scheme == "http"
}

// forms returns where a document about a URL may be (GA 31.2).
func forms(u *url.URL, document string) []string {
	host := u.Scheme + "://" + u.Host
	known := "/.well-known/" + document
	at := strings.Trim(u.EscapedPath(), "/")
	if at == "" {
		return []string{host + known}
	}
	return []string{host + known + "/" + at, host + "/" + at + known, host + known}
}

// form encodes parameters in the order of their names, as WHATWG does.
func form(parameters map[string]string) string {
	values := url.Values{}
	for name, value := range parameters {
		values.Set(name, value)
	}
	return asWHATWG(values.Encode())
}

// encoded encodes one text as in a form.
func encoded(text string) string { return asWHATWG(url.QueryEscape(text)) }

func asWHATWG(form string) string { return strings.NewReplacer("~", "%7E", "%2A", "*").Replace(form) }

// withQuery appends parameters to the query of a URL.
func withQuery(address, parameters string) string {
	switch {
	case strings.HasSuffix(address, "?"):
		return address + parameters
	case strings.Contains(address, "?"):
		return address + "&" + parameters
	}
	return address + "?" + parameters
}
