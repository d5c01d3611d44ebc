package clienttools_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// A rig is a registry whose streams are read as queues.
type rig struct {
	*clienttools.Registry
	t   *testing.T
	bus *events.Bus
}

func newRig(t *testing.T) rig {
	bus := events.NewBus(nil)
	return rig{clienttools.NewRegistry(bus, clienttools.Bounds{}, clienttools.RateLimit{}), t, bus}
}

// Register registers tools, and fails if there are too many.
func (r rig) Register(directory, clientID string, tools []api.ClientToolDefinition) []api.ToolID {
	ids, err := r.Registry.Register(directory, clienttools.Registration{ClientID: clientID, Tools: tools})
	if err != nil {
		r.t.Errorf("Register: %v", err)
	}
	return ids
}

// listen opens a stream. The returned function returns the data of the events since its last call.
func (r rig) listen(to events.Audience) (take func() []string) {
	s := r.bus.Subscribe(to, func(err error) { r.t.Errorf("dropped: %v", err) })
	r.t.Cleanup(s.Close)
	return func() (data []string) {
		for frame, _ := s.Next(); frame != nil; frame, _ = s.Next() {
			_, line, _ := strings.Cut(string(frame), "data: ")
			data = append(data, strings.TrimSuffix(line, "\n\n"))
		}
		return data
	}
}

// tool returns a definition; its parameters distinguish it from others.
func tool(id, parameters string) api.ClientToolDefinition {
	return api.ClientToolDefinition{ID: id, Description: "about " + id, Parameters: json.RawMessage(parameters)}
}

func ids(tools []api.ClientToolDefinition) (ids []string) {
	for _, t := range tools {
		ids = append(ids, t.ID)
	}
	return ids
}
