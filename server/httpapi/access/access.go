// Package access says which pages in a browser may use the client tools of a server on the user's machine (CT 15).
package access

import (
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Any is the entry of a list that allows all origins, and all hosts.
const Any = "*"

// Rules are who may use client tools. The zero value allows what comes from this machine.
type Rules struct {
	Origins  []string // [Any], or origins in addition to those of this machine
	HostName string   // a name of the server, or ""
}

// Check returns the answer to a request that is not allowed, or nil (decision S71).
func (r Rules) Check(request *http.Request) response.Writer {
	if slices.Contains(r.Origins, Any) {
		return nil
	}
	if !r.allowsPage(request.Header) {
		return refusal(api.RefusalMessageOriginNotAllowed)
	}
	if without := request.Host == "" && !request.ProtoAtLeast(1, 1); !without && !r.allowsHost(request.Host) {
		return refusal(api.RefusalMessageHostNotAllowed)
	}
	return nil
}

// allowsPage reports whether the page that sends a request may send it. What is no page may. Without an origin, a browser says
// only whether the page is of another site (decision S88).
func (r Rules) allowsPage(header http.Header) bool {
	switch origins := header.Values("Origin"); len(origins) {
	case 0:
		return !slices.ContainsFunc(header.Values("Sec-Fetch-Site"), func(site string) bool { return site != "same-origin" && site != "none" })
	case 1:
		return r.allowsOrigin(origins[0])
	}
	return false
}

func refusal(message api.RefusalMessage) response.Writer {
	return response.JSON{Status: http.StatusForbidden, Body: jsonwire.Marshal(api.RefusedError{
		Error: api.Refusal{Code: api.RefusalCodePERMISSIONDENIED, Message: message},
	})}
}

func (r Rules) allowsOrigin(origin string) bool {
	if slices.Contains(r.Origins, origin) {
		return true
	}
	scheme, authority, _ := strings.Cut(origin, "://")
	host, port, hasPort := split(authority)
	return (scheme == "http" || scheme == "https") && (!hasPort || isPort(port)) && (host == "localhost" || host == "[::1]" || isLoopback4(host))
}

// allowsHost reports whether a host is on this machine, or an IP address, which DNS rebinding cannot use.
func (r Rules) allowsHost(authority string) bool {
	host, _, _ := split(authority)
	host = plain(host)
	if inner, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return err == nil && addr.Is6() && addr.Zone() == ""
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Is4()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || r.HostName != "" && host == plain(r.HostName)
}

// plain returns a host as it is compared: case and a final dot do not count.
func plain(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// split splits an authority into host and port. The host keeps the brackets of an IPv6 address.
func split(authority string) (host, port string, hasPort bool) {
	if at := strings.LastIndexByte(authority, ':'); at > strings.LastIndexByte(authority, ']') {
		return authority[:at], authority[at+1:], true
	}
	return authority, "", false
}

func isLoopback4(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Is4() && addr.IsLoopback()
}

// isPort reports whether a text is a port as browsers write it.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && text[0] != '0'
}

var (
	scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)
	name   = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?$`)
)

// ownPorts are the ports that browsers leave out.
var ownPorts = map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443", "ftp": "21"}

// IsOrigin reports whether a text is an origin as browsers send it (decision S70).
func IsOrigin(text string) bool {
	kind, authority, ok := strings.Cut(text, "://")
	if !ok || !scheme.MatchString(kind) {
		return false
	}
	host, port, hasPort := split(authority)
	if hasPort && (!isPort(port) || port == ownPorts[kind]) {
		return false
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		return err == nil && addr.Is6() && host == "["+addr.String()+"]"
	}
	return IsHostName(host) && host == strings.ToLower(host)
}

// IsHostName reports whether a text is the name of a host, without a port.
func IsHostName(text string) bool { return name.MatchString(text) }
