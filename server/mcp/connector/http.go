package connector

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/mcp/client"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// openURL connects to a server over HTTP.
func (c *Connector) openURL(ctx context.Context, config extension.Config) (provider, error) {
	variables, err := c.variables(config)
	if err != nil {
		return nil, err
	}
	where, err := url.Parse(config.URI)
	if err != nil || where.Scheme != "http" && where.Scheme != "https" || where.Host == "" {
		return nil, badURL
	}
	headers := http.Header{}
	for _, header := range config.Headers {
		headers.Set(header.Name, expand(header.Value, variables))
	}
	to := remote{c, config, where, headers}
	if config.Type == "sse" || c.SignIns == nil {
		p, _, err := to.connect(ctx, nil)
		return p, err
	}
	return to.signedIn(ctx)
}

// A remote is a server over HTTP.
type remote struct {
	*Connector
	config  extension.Config
	uri     *url.URL
	headers http.Header
}

// signedIn connects to a server that may demand that the user signs in. It demands that once, or twice if it rejects a
// token of an earlier sign-in (decisions X47, X49).
func (to remote) signedIn(ctx context.Context) (provider, error) {
	p, t, err := to.connect(ctx, nil)
	if !t.IsChallenged() {
		return p, err
	}
	session, err := to.SignIns.SignIn(ctx, to.config.Name, to.uri)
	if err != nil {
		return nil, err
	}
	p, t, err = to.connect(ctx, session)
	if !t.IsRejected() || !session.WasStored() {
		return p, err
	}
	if session, err = to.SignIns.Again(ctx, session); err != nil {
		return nil, err
	}
	p, _, err = to.connect(ctx, session)
	return p, err
}

// connect connects to the server, with tokens if they are not nil. It always returns the transport.
func (to remote) connect(ctx context.Context, tokens client.Tokens) (provider, *client.HTTP, error) {
	streamable := to.config.Type == "streamable_http"
	t := client.NewHTTP(streamable, to.config.URI, to.uri, to.headers, to.maxMessage())
	if tokens != nil {
		t.Authorize(tokens)
	}
	x, err := to.Connector.connect(ctx, t, to.config)
	if err != nil {
		if why := t.FirstFault(); why != "" && (errors.Is(err, mcperror.Closed) || errors.Is(err, mcperror.NotMCP)) {
			return nil, t, why
		}
		return nil, t, err
	}
	x.OnLost(func() { to.logLost(to.config.Name, "") })
	if streamable {
		x.Listen(t.Listen)
	}
	return x, t, nil
}

var reference = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// expand replaces references to variables by their values.
func expand(text string, variables jsonwire.Pairs) string {
	return reference.ReplaceAllStringFunc(text, func(name string) string {
		value, _ := variables.Get(strings.Trim(name, "${}"))
		return value
	})
}
