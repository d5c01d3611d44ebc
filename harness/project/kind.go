package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// A kind is what a target is, by the key that says so.
type kind struct {
	key, word string
	program   bool // it talks over standard input and output
}

var kinds = []kind{{"command", "server", false}, {"url", "server", false}, {"program", "program", true}, {"driver", "driver", true}}

// findKind finds out what a target is. It returns false when the target has the keys of several kinds.
func (l *targetLoader) findKind(k, n *yamldoc.Node) bool {
	var found []kind
	var keys []string
	for _, known := range kinds {
		if n.Get(known.key) != nil {
			found, keys = append(found, known), append(keys, known.key)
		}
	}
	l.kind = found[len(found)-1] // the schema demands one
	if len(found) > 1 {
		l.problem(k, fmt.Sprintf("target %q has both a %s", k.Text, strings.Join(keys, " and a ")),
			"keep one: command starts a server, url names a running one, program and driver are started by steps")
		return false
	}
	if l.first == "" {
		l.first, l.firstKind = k.Text, l.kind
	}
	if l.kind.word != l.firstKind.word {
		l.problem(k, fmt.Sprintf("target %q is a %s, but %q is a %s", k.Text, l.kind.word, l.first, l.firstKind.word),
			"compare targets of one kind: write a lockstep.yaml for each kind")
	}
	l.checkKeys(k, n)
	return true
}

// checkKeys reports the keys that only another kind has.
func (l *targetLoader) checkKeys(k, n *yamldoc.Node) {
	if !l.kind.program {
		if n.Get("ready") == nil {
			l.problem(k, fmt.Sprintf("target %q has no \"ready\"", k.Text), "add the request that shows that the server is ready: ready: {get: /status}")
		}
		return
	}
	for _, key := range []string{"ready", "headers"} {
		if at, _ := n.Entry(key); at != nil {
			l.problem(at, fmt.Sprintf("target %q is a %s, which has no %q", k.Text, l.kind.word, key),
				"remove it: a program talks over standard input and output")
		}
	}
}

// checkPort reports the port and the address of a server in a text of a program.
func (l *targetLoader) checkPort(n *yamldoc.Node, used []string) bool {
	for _, name := range []string{"port", "host"} {
		if l.kind.program && slices.Contains(used, name) {
			l.problemOnce(n, fmt.Sprintf("a %s has no ${{ %s }}", l.kind.word, name), "leave it out: a program talks over standard input and output")
			return false
		}
	}
	return true
}

// Kind returns the key of lockstep.yaml that says what the target is: command, url, program or driver.
func (t *Target) Kind() string {
	switch {
	case t.Spec.URL != "":
		return "url"
	case t.Driver:
		return "driver"
	case t.Spec.Program:
		return "program"
	default:
		return "command"
	}
}

// arePrograms reports whether targets of one kind are programs, which includes drivers.
func arePrograms(targets []Target) bool { return len(targets) > 0 && targets[0].Spec.Program }

// areDrivers reports whether targets of one kind are drivers.
func areDrivers(targets []Target) bool { return len(targets) > 0 && targets[0].Driver }
