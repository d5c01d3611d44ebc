package llm

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
	"github.com/lockstep-dev/lockstep/server/wire/lettercase"
)

// Models are the models of an agent: a worker, and perhaps a lead. The lead gives the first answers, and takes over for
// some answers when the worker fails (GA 29.4, decisions M57 to M63).
type Models struct {
	Worker *Provider
	lead   *lead
}

// InvalidModel is the error if the environment makes the model's configuration invalid (decisions M3, M58).
type InvalidModel struct{ error }

// ChooseModels returns a provider, together with the lead that the settings ask for. The text of its error is for
// clients. An [InvalidModel] has the same text as without a lead.
func ChooseModels(from Settings, factory *Factory, name string, config ModelConfig) (Models, error) {
	model := TextSetting(from, "GOOSE_LEAD_MODEL")
	if limit := workerLimit(from); limit > 0 && model != "" {
		config.ContextLimit = &limit
	}
	worker, err := factory.New(name, config)
	if err != nil || model == "" {
		return Models{Worker: worker}, err
	}
	if other := TextSetting(from, "GOOSE_LEAD_PROVIDER"); other != "" {
		name = other
	}
	leading, err := factory.LeadConfig(model)
	if err != nil {
		return Models{}, InvalidModel{err}
	}
	provider, err := factory.New(name, leading)
	if err != nil {
		return Models{}, err
	}
	return Models{worker, &lead{
		provider:  provider,
		first:     turnsOf(from, "GOOSE_LEAD_TURNS", 3),
		threshold: turnsOf(from, "GOOSE_LEAD_FAILURE_THRESHOLD", 2),
		again:     turnsOf(from, "GOOSE_LEAD_FALLBACK_TURNS", 2),
	}}, nil
}

// maxLeadTurns limits the numbers in the settings.
const maxLeadTurns = 1_000_000

// turnsOf returns the integer value of a setting (decision G2), or a default.
func turnsOf(from Settings, key string, byDefault int) int {
	raw, err := from.Setting(key)
	if err != nil {
		return byDefault
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 1 || n > maxLeadTurns {
		return byDefault
	}
	return n
}

// workerLimit returns the context limit of a worker, or 0 (decision M57).
func workerLimit(from Settings) int64 {
	digits := TextSetting(from, "GOOSE_WORKER_CONTEXT_LIMIT")
	if raw, err := from.Setting("GOOSE_WORKER_CONTEXT_LIMIT"); digits == "" && err == nil {
		digits = string(raw)
	}
	limit, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return 0
	}
	return int64(limit)
}

// TextSetting returns the string value of a setting, or "".
func TextSetting(from Settings, key string) string {
	raw, err := from.Setting(key)
	if err != nil {
		return ""
	}
	return jsonwire.Text(raw).Str()
}

// Fraction returns the value of a setting that is a number from 0 to 1, or a default.
func Fraction(from Settings, key string, byDefault float64) float64 {
	raw, err := from.Setting(key)
	if err != nil || jsonwire.Text(raw).Kind() != "number" {
		return byDefault
	}
	if f, err := json.Number(raw).Float64(); err == nil && 0 <= f && f <= 1 { // otherwise it is ignored (decision G33)
		return f
	}
	return byDefault
}

// A lead answers instead of the worker at first, and when the worker fails. It is safe for concurrent use, because
// all replies of an agent share it.
type lead struct {
	provider  *Provider
	first     int // how many answers the lead gives at first
	threshold int // how many failing answers in a row call the lead back
	again     int // how many successful answers the lead then gives

	mu       sync.Mutex
	answers  int // of both models
	failures int // in a row
	left     int // remaining answers of again
}

// Next returns the model to ask now. Without a lead, it is always the worker.
func (m Models) Next() *Provider {
	l := m.lead
	if l == nil {
		return m.Worker
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answers < l.first || l.left > 0 {
		return l.provider
	}
	return m.Worker
}

// count counts an answer (decisions M59, M60).
func (l *lead) count(failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	behindFirst := l.answers >= l.first
	l.answers++
	switch {
	case !failed:
		l.failures = 0
		l.left = max(l.left-1, 0)
	default:
		l.failures++
		if behindFirst && l.left == 0 && l.failures >= l.threshold {
			l.left, l.failures = l.again, 0
		}
	}
}

// Ask makes a call for a complete answer. If it fails and there is a lead, it calls the lead once. by is the model
// that has answered (decision M61).
func (m Models) Ask(ctx context.Context, first *Provider, call func(*Provider) (Piece, error)) (piece Piece, by *Provider, err error) {
	piece, err = call(first)
	if m.lead == nil {
		return piece, first, err
	}
	by = first
	if err != nil && ctx.Err() == nil {
		if second, failed := call(m.lead.provider); failed == nil {
			piece, by, err = second, m.lead.provider, nil
		}
	}
	if err == nil {
		m.lead.count(fails(piece))
	}
	return piece, by, err
}

// HasLead reports whether there is a lead.
func (m Models) HasLead() bool { return m.lead != nil }

// Mode returns the role of a model: lead, worker, or unknown (decision M62). There must be a lead.
func (m Models) Mode(model string) string {
	switch model {
	case m.lead.provider.Config().ModelName:
		return "lead"
	case m.Worker.Config().ModelName:
		return "worker"
	}
	return "unknown"
}

// Complete asks for a complete answer outside of a turn. With a lead it asks the main model (decision M63).
func (m Models) Complete(ctx context.Context, question Request) (Piece, error) {
	if m.lead == nil {
		return m.Worker.Complete(ctx, question)
	}
	piece, _, err := m.Ask(ctx, m.Next(), func(p *Provider) (Piece, error) { return p.Ask(ctx, question) })
	return piece, err
}

// failing are phrases in an answer that show a failure, and failingFirst phrases at its start (decision M60).
var (
	failing = []string{
		"that's wrong", "that's not right", "that doesn't work", "try again", "let me correct", "actually, ", "no, that's", "that's incorrect",
		"fix this", "this is broken", "this doesn't",
	}
	failingFirst = []string{"no,", "wrong", "incorrect"}
)

// fails reports whether an answer shows that its model is stuck.
func fails(answer Piece) bool {
	return slices.ContainsFunc(answer.Message.Content, func(item message.Content) bool {
		switch c := item.(type) {
		case message.ToolRequest:
			return c.Call.Error != nil
		case message.Text:
			text := lettercase.Lower(c.Text)
			return slices.ContainsFunc(failing, func(s string) bool { return strings.Contains(text, s) }) ||
				slices.ContainsFunc(failingFirst, func(s string) bool { return strings.HasPrefix(text, s) })
		}
		return false
	})
}
