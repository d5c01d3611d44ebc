package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"github.com/lockstep-dev/lockstep/server/telemetry"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Provider calls one model of one service. It is safe for concurrent use.
type Provider struct {
	name   string
	config ModelConfig
	to     endpoint
	proxy  endpoint // what calls.asksProxy asks
	calls  calls
	caller caller
	logs   *Logs
	log    *slog.Logger

	telemetry *telemetry.Telemetry
}

// A wire is the format of a service's requests and answers.
type wire interface {
	// model returns the name of the model to request.
	model(config ModelConfig) string
	body(config ModelConfig, r Request, stream bool) jsonwire.Text
	whole(answer jsonwire.Text) (Piece, error)
	stream() streamReader
}

// A streamReader converts the events of one answer to pieces.
type streamReader interface {
	// read reads the data of one event. It returns false when the answer is complete, or the caller wants no more.
	read(data []byte, yield func(Piece) bool) (more bool, err error)
	// end handles a stream that ends before read has reported the end of the answer. It reports whether the answer is
	// complete anyway.
	end(yield func(Piece) bool) (complete bool)
	// facts returns what the answer has said of itself so far: the model, and why it has stopped.
	facts() (model, finish string)
}

// Name returns the name of the provider.
func (p *Provider) Name() string { return p.name }

// Config returns the configuration of its model.
func (p *Provider) Config() ModelConfig { return p.config }

// Model returns the name of the requested model.
func (p *Provider) Model() string { return p.calls.wire.model(p.config) }

// Answer calls the model and yields its answer as it arrives: in pieces, if the service can stream. An error is only
// yielded as the first value. After that, an answer that breaks off ends like a complete one (GA 7.6).
func (p *Provider) Answer(ctx context.Context, r Request) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		if !p.calls.streams {
			yield(p.ask(ctx, p.config, r))
			return
		}
		body := p.wireFor(ctx, p.config).body(p.config, r, true)
		ctx, call := p.telemetry.Chat(ctx, p.name, p.Model(), p.to.url)
		defer call.End("")
		log := p.logs.begin(ctx, p.config, body)
		defer log.close()
		answer, err := p.caller.send(ctx, p.to, body)
		if err != nil {
			call.End(errorType(ctx, err))
			log.fail(err)
			yield(Piece{}, err)
			return
		}
		defer answer.Close()
		reader, stopped := p.calls.wire.stream(), false
		err = pieces(answer, reader, func(piece Piece) bool {
			log.piece(piece)
			observe(call, piece)
			stopped = !yield(piece, nil)
			return !stopped
		})
		observeStream(answer.ctx, call, reader, stopped, err)
		if err == nil {
			drain(answer)
			return
		}
		if err != io.EOF {
			log.fail(err)
		}
		if ctx.Err() == nil { // otherwise the caller has left
			p.log.WarnContext(ctx, "stream of a model broke", "provider", p.name, "model", p.Model(), "err", err)
		}
	}
}

// drainTime is how long to wait for the end of a stream after the end of its answer.
const drainTime = 50 * time.Millisecond

// drain reads the rest of a stream if it ends soon, because only then can its connection be reused.
func drain(answer io.ReadCloser) {
	timer := time.AfterFunc(drainTime, func() { answer.Close() })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, answer, 4<<10)
}

// pieces reads a stream. Its error says why it ended before the answer was complete.
func pieces(answer io.Reader, reader streamReader, yield func(Piece) bool) error {
	lines := newDataLines(answer)
	for {
		more := false
		data, err := lines.next()
		if err == nil {
			more, err = reader.read(data, yield)
			err = asInvalid(err)
		}
		if err != nil {
			if complete := reader.end(yield); complete && err == io.EOF {
				return nil // a service need not send an end marker
			}
			return err
		}
		if !more {
			return nil
		}
	}
}

// Complete asks for an answer that is not streamed, which has a message. It calls the fast model if there is one, and
// the main model if that fails (decision M4).
func (p *Provider) Complete(ctx context.Context, r Request) (Piece, error) {
	if p.config.FastModel != nil && *p.config.FastModel != p.config.ModelName {
		fast := p.config
		fast.ModelName = *p.config.FastModel
		if piece, err := p.ask(ctx, fast, r); err == nil || ctx.Err() != nil {
			return piece, err
		}
	}
	return p.ask(ctx, p.config, r)
}

// Ask asks the model for an answer that is not streamed, which has a message. The error is an [*Error].
func (p *Provider) Ask(ctx context.Context, r Request) (Piece, error) { return p.ask(ctx, p.config, r) }

// Sample asks the model for an answer that is not streamed, with at most maxTokens, and with the given temperature
// unless it is empty (decision X23). The error is an [*Error].
func (p *Provider) Sample(ctx context.Context, r Request, maxTokens int64, temperature json.Number) (Piece, error) {
	config := p.config
	if config.MaxTokens == nil || maxTokens < *config.MaxTokens {
		config.MaxTokens = &maxTokens
	}
	if temperature != "" {
		config.Temperature = temperature
	}
	return p.ask(ctx, config, r)
}

// ask asks a model for an answer that is not streamed.
func (p *Provider) ask(ctx context.Context, config ModelConfig, r Request) (Piece, error) {
	body := p.wireFor(ctx, config).body(config, r, false)
	model := p.calls.wire.model(config)
	ctx, call := p.telemetry.Chat(ctx, p.name, model, p.to.url)
	log := p.logs.begin(ctx, config, body)
	defer log.close()
	piece, err := p.receive(ctx, model, body)
	observe(call, piece)
	call.End(errorType(ctx, err))
	if err != nil {
		log.fail(err)
		return Piece{}, err
	}
	log.piece(piece)
	return piece, nil
}

func (p *Provider) receive(ctx context.Context, model string, body []byte) (Piece, error) {
	text, err := p.read(ctx, body)
	if err != nil {
		return Piece{}, p.explained(err, model)
	}
	piece, err := p.calls.wire.whole(text)
	if err != nil {
		return Piece{}, unreadable(asInvalid(err))
	}
	return piece, nil
}

// explained returns an error with the provider's own text for it, if it has one.
func (p *Provider) explained(err error, model string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || p.calls.explain == nil || e.status != http.StatusBadRequest {
		return err
	}
	if text := p.calls.explain(e.said, model); text != "" {
		return &Error{Message: text, cause: err}
	}
	return err
}

// read sends a request and returns the whole answer.
func (p *Provider) read(ctx context.Context, body []byte) (answer jsonwire.Text, err error) {
	err = p.caller.retry(ctx, p.to, func() error {
		all, err := p.caller.whole(ctx, p.to, body, maxAnswer)
		if err != nil {
			return err
		}
		if answer, err = parse(all); err != nil {
			return unreadable(asInvalid(err))
		}
		if p.calls.errorsInside {
			return errorInside(all, answer)
		}
		return nil
	})
	return answer, err
}
