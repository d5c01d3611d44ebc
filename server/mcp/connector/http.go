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
	streamable := config.Type == "streamable_http"
	t := client.NewHTTP(streamable, config.URI, where, headers, c.maxMessage())
	x, err := c.connect(ctx, t, config)
	if err != nil {
		if why := t.FirstFault(); why != "" && (errors.Is(err, mcperror.Closed) || errors.Is(err, mcperror.NotMCP)) {
			return nil, why
		}
		return nil, err
	}
	x.OnLost(func() { c.logLost(config.Name, "") })
	if streamable {
		x.Listen(t.Listen)
	}
	return x, nil
}

var reference = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// expand replaces references to variables by their values.
func expand(text string, variables jsonwire.Pairs) string {
	return reference.ReplaceAllStringFunc(text, func(name string) string {
		value, _ := variables.Get(strings.Trim(name, "${}"))
		return value
	})
}
