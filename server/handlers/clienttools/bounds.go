package clienttools

import (
	"cmp"
	"errors"
	"sync/atomic"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Bounds limit what clients may register (CT 9.3, decision S39). Zero fields mean the defaults.
type Bounds struct {
	MaxTools       int // per client; 1,000
	MaxClients     int // 10,000
	MaxClientBytes int // per client, of its ID and definitions; 8 MiB
	MaxBytes       int // of all clients; 32 MiB
}

func (b Bounds) withDefaults() Bounds {
	return Bounds{
		MaxTools:       cmp.Or(b.MaxTools, 1000),
		MaxClients:     cmp.Or(b.MaxClients, 10000),
		MaxClientBytes: cmp.Or(b.MaxClientBytes, 8<<20),
		MaxBytes:       cmp.Or(b.MaxBytes, 32<<20),
	}
}

// These errors say why nothing was registered.
var (
	ErrTooManyTools   = errors.New("too many tools")
	ErrTooManyClients = errors.New("too many clients")
)

// keeping is the overhead that each definition counts in addition to its JSON. Without it, 32 MiB of the shortest
// definitions would take ten times as much memory.
const keeping = 256

// A definition is a tool of a client.
type definition struct {
	api.ClientToolDefinition
	size     int          // the number of bytes that it counts
	unusable *atomic.Bool // its parameters are known to be no usable schema
}

// define returns the definitions of tools with their full IDs.
func define(clientID string, tools []api.ClientToolDefinition) []definition {
	all := make([]definition, len(tools))
	for i, tool := range tools {
		tool.ID = fullID(clientID, tool.ID)
		all[i] = definition{tool, len(jsonwire.Marshal(tool)) + keeping, new(atomic.Bool)}
	}
	return all
}

// admit returns by how much a client grows with the tools, or the error that forbids it.
func (b Bounds) admit(r *Registry, c *client, isNew bool, tools []definition) (growth int, err error) {
	if isNew {
		if r.clients.len() >= b.MaxClients {
			return 0, ErrTooManyClients
		}
		growth = len(jsonwire.AppendQuoted(nil, c.id))
	}
	count := c.tools.len()
	sizes := make(map[string]int, len(tools)) // of the tools counted so far
	for _, tool := range tools {
		before, counted := sizes[tool.ID]
		if !counted {
			old, known := c.tools.get(tool.ID)
			if !known {
				count++
			}
			before = old.size
		}
		growth += tool.size - before
		sizes[tool.ID] = tool.size
	}
	if count > b.MaxTools || c.size+growth > b.MaxClientBytes || r.size+growth > b.MaxBytes {
		return 0, ErrTooManyTools
	}
	return growth, nil
}
