// Package prices knows what models cost (GA 16.2). A list on the internet has the prices, and a file keeps them. The list is
// fetched only for a request that wants all prices, and at most once a day.
package prices

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// defaultAddress is the default address of the list (decision G67).
const defaultAddress = "https://openrouter.ai/api/v1/models"

// These times limit how old prices may be, and how long requests take (decisions G67, G69, G70).
const (
	maxAge       = 7 * 24 * time.Hour
	freshAge     = 24 * time.Hour // younger prices are not fetched again
	fetchTimeout = 30 * time.Second
	maxWait      = time.Second // of a request for the fetch
	retryAfter   = time.Minute // since the end of a fetch that failed
)

// Options configure [Prices]. Address and Directory may be empty.
type Options struct {
	// Address is the URL of the list. Empty means the default. With any other text, such as "none", nothing is ever fetched.
	Address string
	// Directory is where the file is. Without it, there is no file.
	Directory string
	// Transport sends the request for the list.
	Transport http.RoundTripper
	// Go starts a task, unless it returns false. The context of the task ends when the server stops.
	Go  func(task func(ctx context.Context)) (begun bool)
	Log *slog.Logger
}

// Prices are the prices of one server. Its methods are safe for concurrent use.
type Prices struct {
	address   string // of the list, or "" if it is never fetched
	path      string // of the file, or ""
	transport http.RoundTripper
	start     func(task func(ctx context.Context)) (begun bool)
	log       *slog.Logger

	reading  sync.Mutex // one request at a time has the text of the file in memory
	files    *files.Cache[*list]
	unusable string // why the file cannot be read, as it was logged

	mu        sync.Mutex
	kept      *list         // that was fetched last, or nil
	running   chan struct{} // closed at the end of the fetch that runs; nil if there is none
	notBefore time.Time     // of the next fetch
}

// New returns prices. It neither reads nor fetches them.
func New(options Options) *Prices {
	p := &Prices{
		address: cmp.Or(options.Address, defaultAddress), transport: options.Transport, start: options.Go, log: options.Log,
		files: files.NewCache(maxBytes, parseFile),
	}
	if options.Directory != "" {
		p.path = filepath.Join(options.Directory, "pricing_cache.json")
	}
	if canFetch(p.address) {
		return p
	}
	if p.address != "none" { // it may have a password
		p.log.Warn("prices are never fetched", "because", "GOOSE_PRICING_URL is neither none nor an http or https URL as in RFC 3986, without a user and a fragment")
	}
	p.address = ""
	return p
}

// addressForm is the form of addresses. Programs differ in how they repair others, with blanks for example.
var addressForm = regexp.MustCompile(`^(?i:https?)://(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?(?:[/?](?:[\w.~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$`)

// canFetch reports whether an address is one to fetch (decision G67).
func canFetch(address string) bool {
	where, err := url.Parse(address)
	if err != nil || !addressForm.MatchString(address) {
		return false
	}
	_, err = strconv.ParseUint(cmp.Or(where.Port(), "0"), 10, 16)
	return err == nil
}

// All returns an [api.PricingResponse] with all prices that are known, sorted by provider and model. If they are old, it starts
// a fetch; if there are none, it waits for the fetch until ctx ends, but at most maxWait (decision G70).
func (p *Prices) All(ctx context.Context) jsonwire.Text {
	file := p.readFile()
	p.mu.Lock()
	known := p.inUse(file)
	var fetched <-chan struct{}
	if known.olderThan(freshAge) {
		fetched = p.refresh()
	}
	p.mu.Unlock()
	if known != nil || fetched == nil {
		return known.all()
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case <-fetched:
	case <-timer.C:
	case <-ctx.Done():
	}
	return p.known().all()
}

// Configured returns the prices of the known models of configured providers, in the order of both (decision G71). It fetches
// nothing.
func (p *Prices) Configured(providers []llm.Details) (found []api.PricingData) {
	known := p.known()
	for _, provider := range providers {
		if !provider.IsConfigured {
			continue
		}
		for _, model := range provider.Metadata.Get("known_models").Elements() {
			if price, ok := known.find(provider.Name, model.Get("name").Str()); ok {
				found = append(found, price)
			}
		}
	}
	return found
}

// known returns the list in use, or nil.
func (p *Prices) known() *list {
	file := p.readFile()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inUse(file)
}

// inUse returns the newer one of the file's list and the fetched one, if it can be used (decision G69). The caller holds
// p.mu.
func (p *Prices) inUse(file *list) *list {
	newest := p.kept
	if newest.olderThan(maxAge) {
		newest = nil
	}
	if file.olderThan(maxAge) || newest != nil && file.fetchedAt < newest.fetchedAt {
		return newest
	}
	return file
}

// refresh starts a fetch unless one runs, and returns a channel that is closed at its end. It returns nil if no fetch can
// start now. The caller holds p.mu.
func (p *Prices) refresh() <-chan struct{} {
	switch {
	case p.running != nil:
		return p.running
	case p.address == "" || time.Now().Before(p.notBefore):
		return nil
	}
	ended := make(chan struct{})
	if !p.start(func(ctx context.Context) { p.fetch(ctx, ended) }) {
		return nil
	}
	p.running = ended
	return ended
}

// fetch fetches the list, and stores it before it closes the channel. If ctx ends, it has no result.
func (p *Prices) fetch(ctx context.Context, ended chan struct{}) {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running = nil
		close(ended)
	}()
	fetched, err := p.request(ctx)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		p.writeFile(fetched)
	} else {
		p.log.Warn("prices not fetched", "reason", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.notBefore = time.Now().Add(retryAfter)
		return
	}
	p.kept = fetched
}

// request requests the list. The text of its error has neither the address nor text of the response.
func (p *Prices) request(ctx context.Context) (*list, error) {
	answer, err := llm.Get(ctx, p.transport, p.address, fetchTimeout)
	if err != nil {
		return nil, llm.Reason(err)
	}
	return parseResponse(answer)
}
