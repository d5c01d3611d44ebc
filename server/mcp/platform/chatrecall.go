package platform

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/mcp/arguments"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/excerpt"
)

// A chatrecall is the extension that searches other sessions (decisions X27 to X29).
type chatrecall struct {
	unconnected
	host *Host
}

// These bounds limit what it returns.
const (
	defaultFound = 10
	maxFound     = 50
	maxTold      = 1000 // characters of a text
	shownAtEnds  = 3    // messages at each end of a session
)

func (*chatrecall) Tools(context.Context) ([]llm.Tool, error) {
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

func (*chatrecall) Instructions(context.Context) string {
	return "The tool chatrecall finds what was said in other sessions. Use it when the user speaks of earlier work."
}

func (c *chatrecall) Call(ctx context.Context, name string, call toolbox.Call) message.ToolResult {
	if name != "chatrecall" {
		return mcperror.UnknownTool(call.Name)
	}
	a := arguments.Parse(call.Arguments, argumentErrors)
	if a.Has("session_id") {
		id := a.Text("session_id")
		if a.Err != nil {
			return fails(a.Err.Error())
		}
		return c.show(ctx, id)
	}
	w := wantedOf(a)
	if a.Err != nil {
		return fails(a.Err.Error())
	}
	text, err := c.search(ctx, w)
	if err != nil {
		return mcperror.Result(err)
	}
	return message.TextResult(text)
}

// show returns the start and the end of a session.
func (c *chatrecall) show(ctx context.Context, id string) message.ToolResult {
	s, err := c.host.Sessions.Load(ctx, id)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return fails("Failed to load session: Session not found")
	case err != nil:
		return fails("Failed to load session: Session cannot be read")
	}
	remarks := remarksOf(s)
	if len(remarks) == 0 {
		return message.TextResult("Session " + id + " has no messages.")
	}
	text := fmt.Sprintf("Session: %s (ID: %s)\nWorking Dir: %s\nTotal Messages: %d\n\n--- First Few Messages ---\n\n", s.Name, id, s.WorkingDir, len(remarks))
	for i, r := range remarks[:min(len(remarks), shownAtEnds)] {
		text += r.numbered(i)
	}
	if len(remarks) > shownAtEnds {
		text += "--- Last Few Messages ---\n\n"
		for i := len(remarks) - shownAtEnds; i < len(remarks); i++ {
			text += remarks[i].numbered(i)
		}
	}
	return message.TextResult(text)
}

// A wanted is a search.
type wanted struct {
	query         string
	words         []string // with ASCII letters in lower case
	limit         int
	after, before *time.Time
}

func wantedOf(a *arguments.Arguments) wanted {
	w := wanted{query: a.Text("query")}
	if w.words = strings.Fields(lower(w.query)); len(w.words) == 0 {
		a.Fail(argumentErrors.Missing("query or session_id")) // a blank query finds nothing
	}
	w.limit = defaultFound
	if limit := a.Integer("limit"); limit != nil {
		w.limit = int(max(min(*limit, maxFound), 1))
	}
	w.after, w.before = timeOf(a, "after_date"), timeOf(a, "before_date")
	return w
}

// timeOf returns an argument that is a date and time (decision G3), or else nil.
func timeOf(a *arguments.Arguments, name string) *time.Time {
	t, err := decode.Text(a.Value(name), decode.Time)
	if err != nil {
		return nil
	}
	return &t
}

// fits reports whether a message contains one of the words and is in the time range. Times are compared in whole
// seconds.
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

// search searches the sessions, newest first, and each from its end. It skips sessions that cannot be read or were
// deleted.
func (c *chatrecall) search(ctx context.Context, w wanted) (string, error) {
	ids, err := c.host.Sessions.Recent(ctx)
	if err != nil {
		return "", mcperror.Reason("Sessions cannot be read")
	}
	var told strings.Builder
	found, sessions := 0, 0
	for _, id := range ids {
		if id == c.host.SessionID || found == w.limit || ctx.Err() != nil {
			continue
		}
		s, err := c.host.Sessions.Load(ctx, id)
		if err != nil {
			continue
		}
		if remarks := w.in(s, w.limit-found); len(remarks) > 0 {
			sessions++
			found += len(remarks)
			tell(&told, sessions, s, remarks)
		}
	}
	if found == 0 {
		return fmt.Sprintf("No results found for query: '%s'", w.query), nil
	}
	return fmt.Sprintf("Found %d matching message(s) across %d session(s) for query: '%s'\n\n", found, sessions, w.query) + told.String(), nil
}

// tell writes what was found in a session (GA 28.7). The time of the latest find counts as the session's last
// activity.
func tell(told *strings.Builder, number int, s session.Session, found []remark) {
	last := slices.MaxFunc(found, func(a, b remark) int { return cmp.Compare(a.created, b.created) })
	fmt.Fprintf(told, "%d. Session: %s (ID: %s)\n   Working Dir: %s\n   Last Activity: %s\n   Showing %d of %d total message(s) in session:\n\n", number, s.Name, s.ID,
		s.WorkingDir, time.Unix(last.created, 0).UTC().Format(time.DateOnly), len(found), s.MessageCount)
	for i, r := range found {
		fmt.Fprintf(told, "   %d.%d [%s]\n   %s\n\n", number, i+1, r.role, strings.ReplaceAll(excerpt.Characters(r.text, maxTold), "\n", "\n   "))
	}
}

// in returns the matching messages of a session, newest first, up to a maximum number.
func (w wanted) in(s session.Session, most int) (found []remark) {
	for _, r := range slices.Backward(remarksOf(s)) {
		if len(found) < most && w.fits(r) {
			found = append(found, r)
		}
	}
	return found
}

// A remark is a message that the user sees, reduced to its texts.
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

// numbered returns the remark with its index in the session, counted from 0, and its author.
func (r remark) numbered(i int) string {
	who := "User"
	if r.role == message.Assistant {
		who = "Assistant"
	}
	return fmt.Sprintf("%d. [%s] %s\n\n", i+1, who, excerpt.Characters(r.text, maxTold))
}

// lower converts ASCII letters to lower case.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r - 'A' + 'a'
		}
		return r
	}, text)
}
