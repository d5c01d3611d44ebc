package clienttools_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
)

func tools(ids ...string) (all []api.ClientToolDefinition) {
	for _, id := range ids {
		all = append(all, tool(id, "{}"))
	}
	return all
}

func TestTooManyToolsOrClientsRegisterNothing(t *testing.T) {
	r := clienttools.NewRegistry(events.NewBus(nil), clienttools.Bounds{MaxTools: 2, MaxClients: 2}, clienttools.RateLimit{})
	for i, step := range []struct {
		client string
		tools  []api.ClientToolDefinition
		want   error
	}{
		{"a", tools("1", "2"), nil},
		{"a", tools("3"), clienttools.ErrTooManyTools},
		{"a", tools("1", "3"), clienttools.ErrTooManyTools},
		{"a", tools("2", "2", "1"), nil},
		{"b", tools("1", "2", "3"), clienttools.ErrTooManyTools},
		{"b", nil, nil},
		{"c", nil, clienttools.ErrTooManyClients},
		{"c", tools("1", "2", "3"), clienttools.ErrTooManyClients},
	} {
		if _, err := r.Register("/", clienttools.Registration{ClientID: step.client, Tools: step.tools}); !errors.Is(err, step.want) {
			t.Errorf("step %d: %v, want %v", i, err, step.want)
		}
	}
	same(t, "tools", []string{"client_a_1", "client_a_2"}, ids(r.AllTools()))
	r.Unregister("/", "a", []string{"1"})
	r.Disconnect("/", "b")
	if _, err := r.Register("/", clienttools.Registration{ClientID: "a", Tools: tools("3")}); err != nil {
		t.Errorf("a tool for one that was removed: %v", err)
	}
	if _, err := r.Register("/", clienttools.Registration{ClientID: "c", Tools: tools("1")}); err != nil {
		t.Errorf("a client for one that has gone: %v", err)
	}
}

// large returns a tool of the client that counts the given number of bytes.
func large(client, id string, size int) api.ClientToolDefinition {
	d := api.ClientToolDefinition{ID: id, Parameters: []byte("{}")}
	d.Description = strings.Repeat("x", size-256-len(`{"id":"client_`+client+`_`+id+`","description":"","parameters":{}}`))
	return d
}

func TestTheSizeOfAllDefinitionsIsBounded(t *testing.T) {
	const most = 1000
	r := clienttools.NewRegistry(events.NewBus(nil), clienttools.Bounds{MaxClientBytes: most, MaxBytes: 4 * most}, clienttools.RateLimit{})
	register := func(want error, client string, tools ...api.ClientToolDefinition) {
		t.Helper()
		if _, err := r.Register("/", clienttools.Registration{ClientID: client, Tools: tools}); !errors.Is(err, want) {
			t.Errorf("client %s: %v, want %v", client, err, want)
		}
	}
	full := most - len(`"c0"`)
	register(clienttools.ErrTooManyTools, "c0", large("c0", "a", full+1))
	for i := range 4 {
		c := fmt.Sprint("c", i)
		register(nil, c, large(c, "a", full/2), large(c, "b", full-full/2))
		register(nil, c, large(c, "a", full/2)) // a repeated tool counts once
		register(clienttools.ErrTooManyTools, c, large(c, "a", full/2+1))
	}
	register(clienttools.ErrTooManyTools, "more")
	r.UnregisterAll("/", "c0")
	register(nil, "c0", large("c0", "a", full))
	r.Unregister("/", "c0", []string{"a"})
	register(nil, "c0", large("c0", "b", full))
	r.Disconnect("/", "c0")
	register(nil, "c0", large("c0", "b", full))
}

func TestTheElementsOfARegistrationAreCountedFirst(t *testing.T) {
	body := `{"clientID":5,"tools":[` + strings.Repeat("0,", 1000) + `0]}`
	if _, refused := checked(t, "registerClientTools", body); refused == nil || refused.Code != 429 {
		t.Errorf("1,001 elements: %v, want 429", refused)
	}
	body = `{"clientID":"c","tools":[` + strings.Repeat("0,", 999) + `0]}`
	if _, refused := checked(t, "registerClientTools", body); refused == nil || refused.Code != 400 || !strings.HasSuffix(refused.Body.String(), `{"code":"too_many_issues","path":[],"message":"900 more issues"}],"success":false}`) {
		t.Errorf("1,000 elements: %v, want 400 and 100 issues", refused)
	}
}

func TestTheAnswerToAFaultyBodyIsShort(t *testing.T) {
	body := `{"clientID":"c","toolIDs":[` + strings.Repeat("0,", 1<<17) + `0]}`
	_, refused := checked(t, "unregisterClientTools", body)
	if got := refused.Body.Len(); got > 20<<10 {
		t.Errorf("%d bytes are answered with %d", len(body), got)
	}
}
