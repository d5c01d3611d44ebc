package keyring

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// A place is an entry of a list of addresses of a bus ("Server Addresses" in the D-Bus specification).
type place struct {
	transport string
	keys      map[string]string
}

// parsePlace parses an entry, such as unix:path=/run/user/1000/bus.
func parsePlace(entry string) (place, error) {
	transport, list, found := strings.Cut(entry, ":")
	if !found || transport == "" {
		return place{}, errors.New("an address of the bus has no transport")
	}
	p := place{transport, map[string]string{}}
	for pair := range strings.SplitSeq(list, ",") {
		if pair == "" {
			continue
		}
		key, escaped, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(escaped)
		if _, twice := p.keys[key]; !found || err != nil || twice || strings.ContainsRune(value, 0) {
			return place{}, fmt.Errorf("an address of the bus has a bad key, of the transport %q", transport)
		}
		p.keys[key] = value
	}
	return p, nil
}

// socket returns the name of a socket of the transport unix, in the notation of package net.
func (p place) socket() (string, error) {
	path, isPath := p.keys["path"]
	name, isAbstract := p.keys["abstract"]
	switch {
	case isPath == isAbstract || path == "" && name == "":
		return "", errors.New("an address with the transport unix needs a path or an abstract name")
	case isPath:
		return path, nil
	}
	return "@" + name, nil
}

// command returns the program of the transport unixexec, and its arguments from the zeroth on.
func (p place) command() (path string, args []string, err error) {
	path = p.keys["path"]
	if path == "" {
		return "", nil, errors.New("an address with the transport unixexec needs a path")
	}
	args = []string{path}
	if name, ok := p.keys["argv0"]; ok {
		args[0] = name
	}
	for n := 1; ; n++ {
		arg, ok := p.keys["argv"+strconv.Itoa(n)]
		if !ok {
			return path, args, nil
		}
		args = append(args, arg)
	}
}

// Escape escapes a value for an address.
func Escape(value string) string {
	var escaped strings.Builder
	for _, b := range []byte(value) {
		if strings.IndexByte("-_/.\\*", b) >= 0 || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z' {
			escaped.WriteByte(b)
		} else {
			fmt.Fprintf(&escaped, "%%%02x", b)
		}
	}
	return escaped.String()
}
