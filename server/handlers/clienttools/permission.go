package clienttools

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/pattern"
	"github.com/lockstep-dev/lockstep/server/handlers/events"
)

// A Permission says whether a tool may be executed (CT 10.2).
type Permission string

// These are the permissions.
const (
	Allow Permission = "allow"
	Ask   Permission = "ask"
	Deny  Permission = "deny"
)

func (p Permission) strictness() int { return slices.Index([]Permission{Allow, Ask, Deny}, p) }

// Permissions are rules: the longest pattern that matches decides, of several the strictest permission (CT 9.3,
// decision S69). If none matches, a tool is allowed.
type Permissions []PermissionRule

// A PermissionRule is the permission of the tools whose full IDs match a pattern. In the pattern, * stands for any run
// of characters.
type PermissionRule struct {
	Pattern    string
	Permission Permission
}

// of returns the permission of a tool.
func (p Permissions) of(toolID string) Permission {
	found, longest := Allow, -1
	for _, rule := range p {
		size := utf8.RuneCountInString(rule.Pattern)
		stricter := size > longest || size == longest && rule.Permission.strictness() > found.strictness()
		if stricter && pattern.Matches(rule.Pattern, toolID) {
			found, longest = rule.Permission, size
		}
	}
	return found
}

// maxGrants is the maximum number of "always" that are kept (decision S68).
const maxGrants = 10_000

// questions are the open questions to the user, and the answers that hold for longer. The registry's lock guards them.
type questions struct {
	open   map[string]*question
	grants ordered[grant, struct{}]
}

// A grant lets a tool run in a session.
type grant struct{ sessionID, toolID string }

// A question waits for the user's answer.
type question struct {
	id, directory string
	call          Call
	answered      chan error // has room for the only answer
}

// end ends the questions about a client's tools, or all questions if client is nil.
func (q *questions) end(client *client, failure *Failure) {
	for id, one := range q.open {
		if client == nil || one.call.client == client {
			delete(q.open, id)
			one.answered <- failure
		}
	}
}

// add announces a question.
func (q *questions) add(bus *events.Bus, directory string, call Call) *question {
	one := &question{id: "per_" + strings.ToLower(rand.Text()), directory: directory, call: call, answered: make(chan error, 1)}
	if q.open == nil {
		q.open = map[string]*question{}
	}
	q.open[one.id] = one
	bus.Publish(directory, api.PermissionUpdatedEvent{
		Type: api.PermissionUpdatedEventTypePermissionUpdated,
		Properties: api.Permission{
			ID: one.id, Type: api.PermissionTypeClientTool,
			SessionID: call.SessionID, MessageID: call.MessageID, CallID: call.CallID,
			Title:    call.ToolID,
			Metadata: api.PermissionMetadata{Tool: call.ToolID, Input: call.Input},
			Time:     api.PermissionTime{Created: time.Now().UnixMilli()},
		},
	})
	return one
}

// ask asks the user whether a call may run, unless an earlier answer says so. It waits for the answer, the client's
// disconnect or the end of ctx. The wait does not count towards the call's timeout.
func (g *Guards) ask(ctx context.Context, directory string, call Call) error {
	r := g.Registry
	r.mu.Lock()
	if _, err := r.available(call); err != nil {
		r.mu.Unlock()
		return err
	}
	if _, granted := r.questions.grants.get(grant{call.SessionID, call.ToolID}); granted {
		r.mu.Unlock()
		return nil
	}
	asked := r.questions.add(r.bus, directory, call)
	r.mu.Unlock()
	select {
	case err := <-asked.answered:
		return err
	case <-ctx.Done():
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.questions.open, asked.id)
		return context.Cause(ctx)
	}
}

// Answer answers a question. An answer to none is ignored.
func (g *Guards) Answer(id string, response api.PermissionResponse) {
	r := g.Registry
	r.mu.Lock()
	defer r.mu.Unlock()
	asked, ok := r.questions.open[id]
	if !ok {
		return
	}
	delete(r.questions.open, id)
	r.bus.Publish(asked.directory, api.PermissionRepliedEvent{
		Type:       api.PermissionRepliedEventTypePermissionReplied,
		Properties: api.PermissionReply{SessionID: asked.call.SessionID, PermissionID: id, Response: response},
	})
	switch response {
	case api.PermissionResponseReject:
		asked.answered <- errRejected
		return
	case api.PermissionResponseAlways:
		key := grant{asked.call.SessionID, asked.call.ToolID}
		r.questions.grants.delete(key) // it is the newest again
		r.questions.grants.set(key, struct{}{})
		r.questions.grants.shorten(maxGrants)
	}
	asked.answered <- nil
}
