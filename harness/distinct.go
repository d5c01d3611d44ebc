package harness

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// distinct refuses targets that are the same server: comparing it with itself proves nothing.
func distinct(targets []Target) error {
	for i, t := range targets {
		for _, other := range targets[:i] {
			if sameServer(other.Spec.URL, t.Spec.URL) {
				return &UsageError{
					fmt.Sprintf("targets %q and %q are the same server, %s", other.Spec.Name, t.Spec.Name, strings.TrimRight(t.Spec.URL, "/")),
					"give each a server of its own",
				}
			}
		}
	}
	return nil
}

// sameServer reports whether two URLs are certainly those of one server. Nobody is asked what a name stands for.
func sameServer(a, b string) bool {
	if a == "" || b == "" {
		return false // a process that lockstep starts
	}
	one, err := url.Parse(a)
	other, otherErr := url.Parse(b)
	if err != nil || otherErr != nil {
		return a == b
	}
	return strings.EqualFold(one.Scheme, other.Scheme) && port(one) == port(other) && sameHost(one.Hostname(), other.Hostname()) &&
		strings.TrimRight(one.EscapedPath(), "/") == strings.TrimRight(other.EscapedPath(), "/") && one.RawQuery == other.RawQuery
}

func port(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)])
}

// sameHost reports whether two names are those of one host. This host has several: of its addresses, 127.0.0.1 and ::1
// may belong to two servers, and localhost to either.
func sameHost(a, b string) bool {
	a, b = hostName(a), hostName(b)
	loopback := func(host string) bool {
		ip := net.ParseIP(host)
		return ip != nil && ip.IsLoopback()
	}
	return a == b || a == "localhost" && loopback(b) || b == "localhost" && loopback(a)
}

// hostName returns a host's name, or its address, in one way of writing it. An address that stands for all of this host
// means its own when it is connected to.
func hostName(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	ip := net.ParseIP(host)
	switch {
	case ip == nil:
		return host
	case ip.IsUnspecified() && ip.To4() != nil:
		return "127.0.0.1"
	case ip.IsUnspecified():
		return "::1"
	}
	return ip.String()
}
