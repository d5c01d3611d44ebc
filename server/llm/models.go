package llm

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// Models returns the names of the models that the service has, sorted (GA 10.15, 18.8). The error is an [*Error].
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	address := strings.Replace(p.to.url, "v1/chat/completions", "v1/models", 1)
	address = strings.Replace(address, "/v1/messages", "/v1/models", 1)
	text, err := p.read(ctx, endpoint{url: address, header: p.to.header, timeout: p.to.timeout}, http.MethodGet, nil)
	if err != nil {
		return nil, err
	}
	list := pick(text, "data")[0]
	if list.Kind() != "array" {
		return nil, unreadable(errShape)
	}
	names := []string{}
	for _, model := range list.Elements() {
		if id := pick(model, "id")[0]; id.Kind() == "string" {
			names = append(names, id.Str())
		}
	}
	slices.Sort(names)
	return names, nil
}

// read sends a request and returns the whole answer to it.
func (p *Provider) read(ctx context.Context, to endpoint, method string, body []byte) (jsonwire.Text, error) {
	answer, err := p.caller.send(ctx, to, method, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	all, err := readAll(answer, maxAnswer)
	if err != nil && answer.ctx.Err() != nil {
		return nil, noAnswer(answer.ctx, to.timeout, err)
	}
	if err != nil {
		return nil, unreadable(err)
	}
	text, err := parse(all)
	if err != nil {
		return nil, unreadable(err)
	}
	return text, nil
}
