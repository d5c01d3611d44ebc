package signin

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// metadata are the endpoints of an authorization server.
type metadata struct {
	authorization, token string
	registration         string // "" if there is none
}

// maxServers is how many authorization servers of a list are tried.
const maxServers = 5

// discover finds the authorization server of the URI (GA 31.2, decision X50).
func (w *web) discover(ctx context.Context) (metadata, error) {
	ctx, cancel := context.WithTimeout(ctx, w.times.discovery)
	defer cancel()
	if m, ok := w.metadataOf(ctx, w.uri); ok {
		return m, nil
	}
	if m, ok := w.namedByServer(ctx); ok {
		return m, nil
	}
	for _, text := range forms(w.uri, "oauth-protected-resource") {
		if m, ok := w.namedAt(ctx, text); ok {
			return m, nil
		}
	}
	return metadata{}, noMetadata
}

// metadataOf returns the metadata of an authorization server, whose URL is not that of a document.
func (w *web) metadataOf(ctx context.Context, server *url.URL) (metadata, bool) {
	for _, text := range forms(server, "oauth-authorization-server") {
		if m, ok := w.metadataAt(ctx, text); ok {
			return m, true
		}
	}
	return metadata{}, false
}

func (w *web) metadataAt(ctx context.Context, text string) (m metadata, ok bool) {
	a, ok := w.document(ctx, text)
	if !ok {
		return m, false
	}
	endpoint := func(name string) string {
		text := a.body.Get(name).Str()
		if _, ok := usable(text, w.uri); !ok {
			return ""
		}
		return text
	}
	m = metadata{endpoint("authorization_endpoint"), endpoint("token_endpoint"), endpoint("registration_endpoint")}
	return m, m.authorization != "" && m.token != ""
}

// document gets a JSON object. ok is false if there is none.
func (w *web) document(ctx context.Context, text string) (a answer, ok bool) {
	at, ok := usable(text, w.uri)
	if !ok {
		return a, false
	}
	a, ok = w.get(ctx, at)
	return a, ok && a.status == http.StatusOK && a.body != nil
}

var resourceMetadata = regexp.MustCompile(`(?i)resource_metadata="([^"]*)"`)

// namedByServer returns the metadata that the server's own answer leads to.
func (w *web) namedByServer(ctx context.Context) (metadata, bool) {
	at := *w.uri
	at.User, at.Fragment, at.RawFragment = nil, "", ""
	a, ok := w.get(ctx, &at)
	switch {
	case !ok:
		return metadata{}, false
	case a.status == http.StatusOK:
		return w.named(ctx, a.body)
	case a.status != http.StatusUnauthorized:
		return metadata{}, false
	}
	for _, challenge := range a.header.Values("WWW-Authenticate") {
		if found := resourceMetadata.FindStringSubmatch(challenge); found != nil {
			about, ok := w.resolve(a.url, found[1])
			if !ok {
				return metadata{}, false
			}
			return w.namedAt(ctx, about.String())
		}
	}
	return metadata{}, false
}

// namedAt returns the metadata that a document about a resource leads to.
func (w *web) namedAt(ctx context.Context, text string) (metadata, bool) {
	a, ok := w.document(ctx, text)
	if !ok {
		return metadata{}, false
	}
	return w.named(ctx, a.body)
}

// named returns the metadata of the first usable authorization server that the metadata of a resource name.
func (w *web) named(ctx context.Context, resource jsonwire.Text) (metadata, bool) {
	servers := []string{resource.Get("authorization_server").Str()}
	for i, server := range resource.Get("authorization_servers").Elements() {
		if i == maxServers {
			break
		}
		servers = append(servers, server.Str())
	}
	for _, text := range servers {
		server, ok := usable(text, w.uri)
		if !ok {
			continue
		}
		find := func() (metadata, bool) { return w.metadataOf(ctx, server) }
		if strings.Contains(text, "/.well-known/") {
			find = func() (metadata, bool) { return w.metadataAt(ctx, text) }
		}
		if m, ok := find(); ok {
			return m, true
		}
	}
	return metadata{}, false
}
