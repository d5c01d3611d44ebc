package llm

import (
	"context"
	"strings"
	"sync"

	"github.com/lockstep-dev/lockstep/gen/api"
)

// detected are the providers that are asked whose key it is, the first one with precedence (GA 10.21).
var detected = []api.DetectedProvider{
	api.DetectedProviderAnthropic, api.DetectedProviderOpenai, api.DetectedProviderGoogle, api.DetectedProviderGroq,
}

// Detect asks several providers at the same time for their models, and returns the first one that answers with a list
// (decision G61).
func (f *Factory) Detect(ctx context.Context, secret string) (found api.DetectProviderResponse, ok bool) {
	secret = strings.TrimSpace(secret)
	if secret == "" || strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r > '~' }) {
		return found, false
	}
	ctx, stop := context.WithCancel(ctx)
	answers := make([]chan []string, len(detected))
	var asking sync.WaitGroup
	defer asking.Wait()
	defer stop()
	for i, name := range detected {
		answers[i] = make(chan []string, 1)
		asking.Go(func() {
			names, err := f.askWith(ctx, name, secret)
			if err != nil {
				names = nil
			}
			answers[i] <- names
		})
	}
	for i, name := range detected {
		if names := <-answers[i]; names != nil {
			return api.DetectProviderResponse{ProviderName: name, Models: names}, true
		}
	}
	return found, false
}

// askWith asks a provider for its models, with a key that is not stored.
func (f *Factory) askWith(ctx context.Context, name api.DetectedProvider, secret string) ([]string, error) {
	if name == api.DetectedProviderGroq {
		return f.askGroq(ctx, secret)
	}
	b := builtinOf(string(name))
	k, to, err := f.siteOf(b, given{b.keys[0].Name: secret})
	if err != nil {
		f.logUnread(err)
		return nil, err
	}
	to.url += b.list.path(k)
	return b.list.ask(ctx, f.caller(), to)
}

// askGroq asks Groq at the address of its definition.
func (f *Factory) askGroq(ctx context.Context, secret string) ([]string, error) {
	d, err := f.definition(string(api.DetectedProviderGroq))
	if err != nil {
		return nil, err
	}
	if d.Engine != api.ProviderEngineOpenai {
		return nil, ErrRejected
	}
	to := siteOfDefinition(d, secret)
	url, err := chatURL(d.BaseURL)
	if err != nil {
		return nil, err
	}
	to.url = listOfChats(url)
	return openAIList.ask(ctx, f.caller(), to)
}
