package reply

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"sync"

	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/llm"
)

// Models are who answers in the replies of an agent: a worker, which also names and summarizes, and possibly a lead, which
// has the first turns, and some more when the worker fails (GA 1.2, decisions M57 to M63).
type Models struct {
	Worker *llm.Provider
	lead   *lead
}

// InvalidModel is the error of an environment that makes no model config (decisions M3, M58).
type InvalidModel struct{ error }

// Choose returns a provider with the lead that the settings want to have with it. The text of the error is shown to
// clients; an [InvalidModel] is told as it is without a lead.
func Choose(from Settings, factory *llm.Factory, name string, config llm.ModelConfig) (Models, error) {
	worker, err := factory.New(name, config)
	if err != nil {
		return Models{}, err
	}
	model := textOf(from, "GOOSE_LEAD_MODEL")
	if model == "" {
		return Models{Worker: worker}, nil
	}
	if other := textOf(from, "GOOSE_LEAD_PROVIDER"); other != "" {
		name = other
	}
	leading, err := factory.Config(model)
	if err != nil {
		return Models{}, InvalidModel{err}
	}
	provider, err := factory.New(name, leading)
	if err != nil {
		return Models{}, errors.New("Lead provider " + name + ": " + err.Error())
	}
	return Models{worker, &lead{
		provider: provider,
		worker:   worker,
		patience: turnsOf(from, "GOOSE_LEAD_FAILURE_THRESHOLD", 2),
		again:    turnsOf(from, "GOOSE_LEAD_FALLBACK_TURNS", 2),
		left:     turnsOf(from, "GOOSE_LEAD_TURNS", 3),
	}}, nil
}

// maxLeadTurns bounds the numbers of the settings.
const maxLeadTurns = 1_000_000

// turnsOf returns the integer that a setting holds (decision G2), or its default.
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

// textOf returns the string that a setting holds, or nothing.
func textOf(from Settings, key string) string {
	raw, err := from.Setting(key)
	if err != nil || jsonwire.Text(raw).Kind() != "string" {
		return ""
	}
	return jsonwire.Text(raw).Str()
}

// A lead takes turns from a worker. It is safe for concurrent use: all replies of an agent have the same.
type lead struct {
	provider, worker *llm.Provider
	patience         int // failed turns of the worker in a row
	again            int // turns that the lead gets then

	mu       sync.Mutex
	left     int // turns of the lead
	failures int // of the worker in a row
}

// begin returns who is asked in a turn that begins now.
func (l *lead) begin() *llm.Provider {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left > 0 {
		return l.provider
	}
	return l.worker
}

// count counts a turn whose tools are done (decisions M59, M60). A lead that there is not counts nothing.
func (l *lead) count(by *llm.Provider, failed bool) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case by == l.provider && l.left == 0: // in the place of the worker, which neither fails nor recovers by that
	case by == l.provider:
		if l.left--; l.left == 0 {
			l.failures = 0
		}
	case !failed:
		l.failures = 0
	default:
		if l.failures++; l.failures >= l.patience {
			l.left, l.failures = l.again, 0
		}
	}
}

// newTurn returns a turn of whoever is to have it.
func (x *exchange) newTurn() *turn {
	models := x.agent.chosen()
	t := &turn{exchange: x, provider: models.Worker, lead: models.lead}
	if t.lead != nil {
		t.provider = t.lead.begin()
	}
	return t
}

// answer asks the model of the turn. With a lead nothing is streamed, and what the worker cannot answer the lead is asked,
// whose turn it is then (decisions M61, M62).
func (t *turn) answer(ctx context.Context, question llm.Request) iter.Seq2[llm.Piece, error] {
	if t.lead == nil {
		return t.provider.Answer(ctx, question)
	}
	return func(yield func(llm.Piece, error) bool) {
		piece, err := t.provider.Ask(ctx, question)
		if err != nil && t.provider == t.lead.worker && ctx.Err() == nil {
			t.Log.Info("the lead is asked in the place of the worker", "session", t.session.ID, "err", err)
			t.provider = t.lead.provider
			piece, err = t.provider.Ask(ctx, question)
		}
		yield(piece, err)
	}
}

// tellModel tells who has answered, if there is a lead and it is known what the answer has cost (decision M62).
func (t *turn) tellModel(ctx context.Context, piece llm.Piece) error {
	if t.lead == nil || piece.Usage == nil {
		return nil
	}
	model, mode := piece.Model, "unknown"
	if model == "" {
		model = t.provider.Model()
	}
	switch model {
	case t.lead.provider.Model():
		mode = "lead"
	case t.lead.worker.Model():
		mode = "worker"
	}
	return t.out.push(ctx, modelEvent(model, mode))
}

// failed says whether the model has asked for tools in a way that came to nothing (decision M60).
func (t *turn) failed() bool {
	for _, r := range t.wanted {
		if r.result.Error != nil {
			return true
		}
	}
	return t.broken
}
