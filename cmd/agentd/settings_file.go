package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/httpapi/access"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// rateLimit reads the rate limit of client tools (CT 9.3).
func (r *reader) rateLimit() clienttools.RateLimit {
	calls, _ := r.find("clientTools.rateLimit.calls", func(s setting) bool { _, ok := s.whole(0, math.MaxInt32); return ok }, "a whole number, at least 0")
	n, _ := calls.whole(0, math.MaxInt32)
	window := r.positive("clientTools.rateLimit.windowMs", "a whole number of milliseconds, at least 1", math.MaxInt32)
	return clienttools.RateLimit{Calls: int(n), Window: time.Duration(window) * time.Millisecond}
}

// permissions reads which client tools may be executed (CT 9.3).
func (r *reader) permissions() clienttools.Permissions {
	s, given := r.find("clientTools.permission", func(s setting) bool { _, ok := s.permissions(); return ok },
		"allow, ask or deny, or an object from patterns of tool IDs to one of these")
	if !given {
		return nil
	}
	rules, _ := s.permissions()
	return rules
}

func (s setting) permissions() (rules clienttools.Permissions, ok bool) {
	if s.json.Kind() != "object" {
		one, ok := permission(s.json)
		return clienttools.Permissions{{Pattern: "*", Permission: one}}, ok
	}
	for pattern, value := range s.json.Members() {
		one, ok := permission(value)
		if !ok {
			return nil, false
		}
		rules = append(rules, clienttools.PermissionRule{Pattern: pattern.Str(), Permission: one})
	}
	return rules, true
}

func permission(value jsonwire.Text) (clienttools.Permission, bool) {
	if value.Kind() != "string" {
		return "", false
	}
	switch p := clienttools.Permission(value.Str()); p {
	case clienttools.Allow, clienttools.Ask, clienttools.Deny:
		return p, true
	}
	return "", false
}

// origins reads which pages may use client tools, and under which name of the server (CT 15).
func (r *reader) origins() access.Rules {
	var rules access.Rules
	isList := func(s setting) bool { _, ok := s.origins(); return ok }
	if s, given := r.find("allow-origin", isList, "*, or origins such as https://app.example or http://10.0.0.1:8080, without the scheme's own port"); given {
		rules.Origins, _ = s.origins()
	}
	isName := func(s setting) bool { return access.IsHostName(s.text) }
	if s, given := r.find("host-name", isName, "the name of a host, without a port"); given {
		rules.HostName = s.text
	}
	return rules
}

func (s setting) origins() (origins []string, ok bool) {
	if s.json == nil {
		origins = strings.Split(s.text, ",")
	} else if s.json.Kind() != "array" {
		return nil, false
	}
	for _, element := range s.json.Elements() {
		if element.Kind() != "string" {
			return nil, false
		}
		origins = append(origins, element.Str())
	}
	for _, origin := range origins {
		if origin != access.Any && !access.IsOrigin(origin) {
			return nil, false
		}
	}
	return origins, true
}

// readFile reads the configuration file.
func (r *reader) readFile() {
	s, given := r.find("config", isText, "the path of a file")
	path := s.text
	if !given {
		home, _ := r.env("HOME")
		if home == "" {
			return
		}
		path = filepath.Join(home, ".config", "opencode", "config.json")
	}
	content, err := os.ReadFile(path)
	if err != nil {
		if given || !errors.Is(err, os.ErrNotExist) {
			r.problems = append(r.problems, fmt.Errorf("configuration file: %w", err))
		}
		return
	}
	text, err := jsonwire.Parse(content)
	if err != nil {
		r.problems = append(r.problems, fmt.Errorf("%s is not JSON: %w", path, err))
		return
	}
	if text.Kind() != "object" {
		r.wrong(setting{where: path, json: text}, "an object")
		return
	}
	r.file = make(map[string]setting)
	for _, o := range options {
		if o.key != "" {
			r.readKey(path, text, o.key)
		}
	}
}

// readKey reads the value of a key, which is a path of members.
func (r *reader) readKey(file string, value jsonwire.Text, key string) {
	steps := strings.Split(key, ".")
	for i, step := range steps {
		at := strings.Join(steps[:i], ".")
		if value.Kind() != "object" {
			if _, told := r.file[at]; !told {
				r.file[at] = setting{where: file + ": " + at, json: value}
				r.wrong(r.file[at], "an object")
			}
			return
		}
		if value = value.Get(step); value == nil {
			return
		}
	}
	r.file[key] = setting{where: file + ": " + key, json: value}
}
