package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/message"
	"github.com/lockstep-dev/lockstep/server/reply"
	"github.com/lockstep-dev/lockstep/server/session"
	"github.com/lockstep-dev/lockstep/server/store"
)

// A chatrecall is the extension that finds what was said in other sessions (decisions X27 to X29).
type chatrecall struct {
	inProcess
	sessions Sessions
	own      string // the agent's session
}

// How much it tells.
const (
	defaultFound = 10
	maxFound     = 50
	maxTold      = 1000 // characters of a text
	shownAtEnds  = 3    // messages of a session
)

func (*chatrecall) tools(context.Context) ([]llm.Tool, error) {
	return []llm.Tool{{
		Name:        "chatrecall",
		Description: "Finds messages of other sessions, or shows the beginning and the end of one.",
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"Words to search for"},` +
			`"session_id":{"type":"string","description":"The session to show; nothing is searched for then"},` +
			`"limit":{"type":"integer","description":"How many messages to find: 10, at most 50"},` +
			`"after_date":{"type":"string","description":"Messages from this date and time on (RFC 3339)"},` +
			`"before_date":{"type":"string","description":"Messages up to this date and time (RFC 3339)"}}}`),
	}}, nil
}

func (*chatrecall) instructions(context.Context) string {
	return "The tool chatrecall finds what was said in other sessions. Use it when the user speaks of earlier work."
}

func (c *chatrecall) call(ctx context.Context, name string, call reply.Call) message.Result[[]message.ToolContent] {
	if name != "chatrecall" {
		return unknown(call.Name)
	}
	a := argumentsOf(call.Arguments)
	if a.has("session_id") {
		id := a.text("session_id")
		if a.wrong != "" {
			return says(a.wrong)
		}
		return says(c.show(ctx, id))
	}
	w := wantedOf(a)
	if a.wrong != "" {
		return says(a.wrong)
	}
	text, err := c.search(ctx, w)
	if err != nil {
		return failed(err)
	}
	return says(text)
}

// show tells how a session begins and ends.
func (c *chatrecall) show(ctx context.Context, id string) string {
	s, err := c.sessions.Load(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "Session not found: " + id
	case err != nil:
		return "Session cannot be read: " + id
	}
	parts := []string{"Session " + id + ": " + s.Name + "\nWorking directory: " + s.WorkingDir}
	remarks := remarksOf(s)
	left := len(remarks) - 2*shownAtEnds
	for i, r := range remarks {
		switch {
		case left <= 0 || i < shownAtEnds || i >= len(remarks)-shownAtEnds:
			parts = append(parts, r.told())
		case i == shownAtEnds:
			parts = append(parts, fmt.Sprintf("[%d more messages]", left))
		}
	}
	return strings.Join(parts, "\n\n")
}

// A wanted is what is searched for.
type wanted struct {
	words         []string // without capital letters of ASCII
	limit         int
	after, before *time.Time
}

func wantedOf(a *arguments) wanted {
	w := wanted{words: strings.Fields(lower(a.need("query")))}
	if len(w.words) == 0 {
		a.missing("query") // a blank one finds nothing
	}
	w.limit = a.integer("limit", defaultFound, maxFound)
	w.after, w.before = a.time("after_date"), a.time("before_date")
	return w
}

// fits says whether one of the words is in a message of the right time. Times are compared in whole seconds.
func (w wanted) fits(r remark) bool {
	if w.after != nil && r.created < w.after.Unix() || w.before != nil && r.created > w.before.Unix() {
		return false
	}
	text := lower(r.text)
	for _, word := range w.words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// search looks through the sessions, the youngest first, and through each from its end. One that cannot be read, or is not
// there any more, is passed over.
func (c *chatrecall) search(ctx context.Context, w wanted) (string, error) {
	ids, err := c.sessions.Youngest(ctx)
	if err != nil {
		return "", reason("Sessions cannot be read")
	}
	var found []string
	for _, id := range ids {
		if id == c.own || len(found) == w.limit || ctx.Err() != nil {
			continue
		}
		if s, err := c.sessions.Load(ctx, id); err == nil {
			found = append(found, w.in(s, w.limit-len(found))...)
		}
	}
	if len(found) == 0 {
		return "No messages found.", nil
	}
	return strings.Join(append([]string{fmt.Sprintf("Found %d messages.", len(found))}, found...), "\n\n"), nil
}

// in returns what a session has of what is wanted, the last first, and not more than so much.
func (w wanted) in(s session.Session, most int) (found []string) {
	remarks := remarksOf(s)
	for i := len(remarks) - 1; i >= 0 && len(found) < most; i-- {
		if r := remarks[i]; w.fits(r) {
			when := time.Unix(r.created, 0).UTC().Format(time.RFC3339)
			found = append(found, "Session "+s.ID+": "+s.Name+", "+when+"\n"+r.told())
		}
	}
	return found
}

// A remark is a message that the user sees, by its texts.
type remark struct {
	role    message.Role
	created int64
	text    string
}

func remarksOf(s session.Session) (remarks []remark) {
	for _, m := range s.Conversation {
		if text, _ := m.PlainText(); m.Metadata.UserVisible && strings.TrimSpace(text) != "" {
			remarks = append(remarks, remark{m.Role, m.Created, text})
		}
	}
	return remarks
}

func (r remark) told() string {
	text := []rune(r.text)
	if len(text) > maxTold {
		return string(r.role) + ": " + string(text[:maxTold-3]) + "..."
	}
	return string(r.role) + ": " + r.text
}

// lower makes capital letters of ASCII small.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r - 'A' + 'a'
		}
		return r
	}, text)
}
