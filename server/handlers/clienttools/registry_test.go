package clienttools_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
)

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRegisteringAddsAndOverwrites(t *testing.T) {
	r := newRig(t)
	same(t, "registered", []string{"client_c_a", "client_c_b", "client_c_a"},
		r.Register("/", "c", []api.ClientToolDefinition{tool("a", "1"), tool("b", "2"), tool("a", "3")}))
	same(t, "registered later", []string{"client_c_c", "client_c_b"},
		r.Register("/", "c", []api.ClientToolDefinition{tool("c", "4"), tool("b", "5")}))
	same(t, "tools", []api.ClientToolDefinition{
		{ID: "client_c_a", Description: "about a", Parameters: []byte("3")},
		{ID: "client_c_b", Description: "about b", Parameters: []byte("5")},
		{ID: "client_c_c", Description: "about c", Parameters: []byte("4")},
	}, r.Tools("c"))
}

func TestIDsAreOnlyEverPrefixed(t *testing.T) {
	r := newRig(t)
	for _, tc := range []struct{ client, tool, want string }{
		{"c4", "client_c4_pre", "client_c4_client_c4_pre"},
		{"", "a", "client__a"},
		{"a b/ü", "\"\n%", "client_a b/ü_\"\n%"},
	} {
		same(t, "registered", []string{tc.want}, r.Register("/", tc.client, []api.ClientToolDefinition{tool(tc.tool, "{}")}))
	}
}

func TestTheOrderOfToolsAndClients(t *testing.T) {
	r := newRig(t)
	add := func(client string, tools ...string) {
		for _, id := range tools {
			r.Register("/", client, []api.ClientToolDefinition{tool(id, "{}")})
		}
	}
	add("z", "2", "1")
	add("a", "3")
	r.Register("/", "nothing yet", nil)
	add("m", "4")

	r.Unregister("/", "z", []string{"2"})
	add("z", "2") // at the end of its client
	same(t, "a tool removed and added", []string{"client_z_1", "client_z_2", "client_a_3", "client_m_4"}, ids(r.AllTools()))

	r.Unregister("/", "a", []string{"3"})
	add("a", "3") // the client has kept its position
	add("nothing yet", "5")
	same(t, "a client emptied by name", []string{"client_z_1", "client_z_2", "client_a_3", "client_nothing yet_5", "client_m_4"}, ids(r.AllTools()))

	same(t, "removed", []string{"client_z_1", "client_z_2"}, r.UnregisterAll("/", "z"))
	add("z", "1") // the client was removed
	r.Disconnect("/", "a")
	add("a", "3")
	same(t, "clients forgotten", []string{"client_nothing yet_5", "client_m_4", "client_z_1", "client_a_3"}, ids(r.AllTools()))

	same(t, "an unknown client", 0, len(r.Tools("unknown")))
}

func TestAnEmptiedClientIsForgottenByUnregisterAll(t *testing.T) {
	r := newRig(t)
	r.Register("/", "first", []api.ClientToolDefinition{tool("x", "{}")})
	r.Register("/", "second", []api.ClientToolDefinition{tool("x", "{}")})
	r.Unregister("/", "first", []string{"x"})
	same(t, "removed", []string{}, r.UnregisterAll("/", "first"))
	r.Register("/", "first", []api.ClientToolDefinition{tool("x", "{}")})
	same(t, "tools", []string{"client_second_x", "client_first_x"}, ids(r.AllTools()))
}

func TestUnregisterTakesShortNamesAndFullIDs(t *testing.T) {
	for _, tc := range []struct {
		name  string
		names []string
		want  []string
	}{
		{"a short name", []string{"a"}, []string{"client_u_a"}},
		{"a full ID", []string{"client_u_a"}, []string{"client_u_a"}},
		{"in the order of the request", []string{"b", "nope", "client_u_a"}, []string{"client_u_b", "client_u_a"}},
		{"twice", []string{"a", "client_u_a", "a"}, []string{"client_u_a"}},
		{"a short name that looks like a full ID", []string{"client_x"}, []string{}},
		{"its full ID", []string{"client_u_client_x"}, []string{"client_u_client_x"}},
		{"another client's tool", []string{"client_other_a"}, []string{}},
		{"nothing", []string{}, []string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			r.Register("/", "u", []api.ClientToolDefinition{tool("a", "{}"), tool("b", "{}"), tool("client_x", "{}")})
			r.Register("/", "other", []api.ClientToolDefinition{tool("a", "{}")})
			heard := r.listen(events.InDirectory("/"))
			same(t, "unregistered", tc.want, r.Unregister("/", "u", tc.names))
			if got := len(heard()); (got == 1) != (len(tc.want) > 0) {
				t.Errorf("%d events for %d removed tools", got, len(tc.want))
			}
			same(t, "left", 4-len(tc.want), len(r.AllTools()))
		})
	}
	r := newRig(t)
	same(t, "unregistered of an unknown client", []string{}, r.Unregister("/", "u", []string{"a"}))
	same(t, "all unregistered of an unknown client", []string{}, r.UnregisterAll("/", "u"))
}

// TestAToolIDOfTwoClients checks the difficult case of CT 2.6: two clients have the same full ID.
func TestAToolIDOfTwoClients(t *testing.T) {
	r := newRig(t)
	r.Register("/", "a_b", []api.ClientToolDefinition{tool("c", `"later client, registered first"`), tool("d", "{}")})
	r.UnregisterAll("/", "a_b") // so that it comes last
	r.Register("/", "a", []api.ClientToolDefinition{tool("b_c", `"first client"`), tool("x", "{}")})
	r.Register("/", "a_b", []api.ClientToolDefinition{tool("d", "{}"), tool("c", `"last client"`)})

	same(t, "the first client's", `"first client"`, string(r.Tools("a")[0].Parameters))
	same(t, "the last client's", `"last client"`, string(r.Tools("a_b")[1].Parameters))
	same(t, "all", []api.ClientToolDefinition{
		{ID: "client_a_b_c", Description: "about c", Parameters: []byte(`"last client"`)},
		{ID: "client_a_x", Description: "about x", Parameters: []byte("{}")},
		{ID: "client_a_b_d", Description: "about d", Parameters: []byte("{}")},
	}, r.AllTools())

	r.Unregister("/", "a_b", []string{"c"})
	same(t, "one client's removal leaves the other's", `"first client"`, string(r.AllTools()[0].Parameters))
	r.Register("/", "a_b", []api.ClientToolDefinition{tool("c", `"again"`)})
	r.Disconnect("/", "a")
	same(t, "after the first client's end", []string{"client_a_b_d", "client_a_b_c"}, ids(r.AllTools()))
}

func TestEventsOfRegistrations(t *testing.T) {
	r := newRig(t)
	here, there, global := r.listen(events.InDirectory("/here")), r.listen(events.InDirectory("/there")), r.listen(events.Everywhere())
	r.Register("/here", "c", []api.ClientToolDefinition{tool("a", "{}"), tool("a", "{}")})
	r.Register("/there", "c", nil)
	r.Unregister("/here", "c", []string{"nope"})
	r.UnregisterAll("/there", "c")
	r.UnregisterAll("/there", "c")

	same(t, "/here", []string{
		`{"type":"client-tool.registered","properties":{"clientID":"c","toolIDs":["client_c_a","client_c_a"]}}`,
	}, here())
	same(t, "/there", []string{
		`{"type":"client-tool.registered","properties":{"clientID":"c","toolIDs":[]}}`,
		`{"type":"client-tool.unregistered","properties":{"clientID":"c","toolIDs":["client_c_a"]}}`,
	}, there())
	same(t, "everywhere", []string{
		`{"directory":"/here","payload":{"type":"client-tool.registered","properties":{"clientID":"c","toolIDs":["client_c_a","client_c_a"]}}}`,
		`{"directory":"/there","payload":{"type":"client-tool.registered","properties":{"clientID":"c","toolIDs":[]}}}`,
		`{"directory":"/there","payload":{"type":"client-tool.unregistered","properties":{"clientID":"c","toolIDs":["client_c_a"]}}}`,
	}, global())
}

// TestEventsComeInTheOrderOfTheChanges replays the events, and must arrive at the state of the registry.
func TestEventsComeInTheOrderOfTheChanges(t *testing.T) {
	r := newRig(t)
	heard := r.listen(events.InDirectory("/"))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				r.Register("/", "c", []api.ClientToolDefinition{tool(fmt.Sprint(i), "{}")})
				r.Unregister("/", "c", []string{fmt.Sprint((i + 1) % 8)})
			}
		})
	}
	wg.Wait()
	there := make(map[string]bool)
	for _, event := range heard() {
		var e struct {
			Type       string
			Properties struct{ ToolIDs []string }
		}
		decode(t, event, &e)
		for _, id := range e.Properties.ToolIDs {
			there[id] = e.Type == "client-tool.registered"
		}
	}
	held := make(map[string]bool)
	for _, id := range ids(r.Tools("c")) {
		held[id] = true
	}
	for id, is := range there {
		if is != held[id] {
			t.Errorf("%s: the events say %t, the registry %t", id, is, held[id])
		}
	}
}
