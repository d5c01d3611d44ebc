package project

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/internal/sockets"
)

// checkDistinct rejects targets that are the same server, because comparing it with itself proves nothing.
func checkDistinct(targets []Target) error {
	for i, t := range targets {
		for _, other := range targets[:i] {
			if sameServer(other.Spec.URL, t.Spec.URL) {
				one, two := strings.TrimRight(other.Spec.URL, "/"), strings.TrimRight(t.Spec.URL, "/")
				if one != two {
					two += ", also called " + one
				}
				return &UsageError{
					fmt.Sprintf("targets %q and %q are the same server, %s", other.Spec.Name, t.Spec.Name, two),
					"give each target its own server",
				}
			}
		}
	}
	return nil
}

// sameServer reports whether two URLs belong to one server, or cannot be distinguished.
func sameServer(a, b string) bool {
	if a == "" || b == "" {
		return false // a process that lockstep starts
	}
	one, err := url.Parse(a)
	other, otherErr := url.Parse(b)
	if err != nil || otherErr != nil {
		return a == b
	}
	return strings.EqualFold(one.Scheme, other.Scheme) && port(one) == port(other) &&
		strings.TrimRight(one.EscapedPath(), "/") == strings.TrimRight(other.EscapedPath(), "/") && one.RawQuery == other.RawQuery &&
		sameHost(one.Hostname(), other.Hostname(), port(one))
}

// port returns the port of a URL in a normal form.
func port(u *url.URL) string {
	text := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)])
	return cmp.Or(strings.TrimLeft(text, "0"), text)
}

// sameHost reports whether two names lead to one server on a port. That is so when they are equal or share an address.
// It is also assumed when both are this machine and are not known to have separate processes on that port.
func sameHost(a, b, port string) bool {
	a, b = strings.TrimSuffix(strings.ToLower(a), "."), strings.TrimSuffix(strings.ToLower(b), ".")
	if a == b {
		return true
	}
	these, those := resolvedAddresses(a), resolvedAddresses(b)
	for _, one := range these {
		for _, other := range those {
			if one == other || isThisMachine(one) && isThisMachine(other) && !haveSeparateProcesses(one, other, port) {
				return true
			}
		}
	}
	return false
}

// resolvedAddresses returns the addresses of a host in a normal form, with the loopback address instead of the
// unspecified one. A name that cannot be resolved has none.
func resolvedAddresses(host string) []netip.Addr {
	found := []netip.Addr{}
	if addr, err := netip.ParseAddr(host); err == nil {
		found = append(found, addr)
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		found, _ = net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}
	for i, addr := range found {
		switch addr = addr.Unmap(); addr {
		case netip.IPv4Unspecified():
			addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
		case netip.IPv6Unspecified():
			addr = netip.IPv6Loopback()
		}
		found[i] = addr
	}
	return found
}

// isThisMachine reports whether an address belongs to this machine.
func isThisMachine(addr netip.Addr) bool {
	if addr.IsLoopback() {
		return true
	}
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(own, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().Unmap() == addr.WithZone("")
	})
}

// haveSeparateProcesses reports whether two addresses of this machine certainly have two servers on a port: different
// sockets listen there, and different processes have them. For a container's port, each address has its own forwarding
// process.
func haveSeparateProcesses(one, other netip.Addr, port string) bool {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return false
	}
	listeners, _ := sockets.Listening(uint16(number))
	these := sockets.Holders(sockets.Answering(listeners, one))
	those := sockets.Holders(sockets.Answering(listeners, other))
	forwards := func(pid int) bool { return sockets.Name(pid) == "docker-proxy" }
	return len(these) > 0 && len(those) > 0 && !slices.ContainsFunc(these, func(pid int) bool {
		return slices.Contains(those, pid) || forwards(pid)
	})
}
