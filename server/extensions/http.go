package extensions

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/extension"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/statusname"
)

// openURL talks to a server over HTTP.
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
	r := newRemote(config, where, headers, c.maxMessage())
	client, err := c.connect(ctx, r, timeoutOf(config))
	if err != nil {
		if why := r.firstFault(); why != "" && (errors.Is(err, closed) || errors.Is(err, noMCP)) {
			return nil, why
		}
		return nil, err
	}
	c.logEnd(client, config.Name, nil, nil)
	if config.Type == "streamable_http" {
		client.listen(r)
	}
	return client, nil
}

var reference = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// expand puts the values of variables in the place of their names.
func expand(text string, variables jsonwire.Pairs) string {
	return reference.ReplaceAllStringFunc(text, func(name string) string {
		value, _ := variables.Get(strings.Trim(name, "${}"))
		return value
	})
}

// A remote is a server that is reached over HTTP. It notes what goes wrong first: the library says it only in its own words.
type remote struct {
	mcp.Transport
	uri     *url.URL
	headers http.Header
	base    *http.Transport
	max     int // bytes of a message

	streamable bool // it is the newer transport, which has sessions

	mu        sync.Mutex
	fault     reason
	sessionID string
	version   string // of the protocol, once it is agreed on
}

// What requests of streamable HTTP have in common, once the server has answered.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

func newRemote(config extension.Config, uri *url.URL, headers http.Header, maxMessage int) *remote {
	r := &remote{uri: uri, headers: headers, max: maxMessage, base: &http.Transport{MaxResponseHeaderBytes: 1 << 20, TLSHandshakeTimeout: 10 * time.Second}}
	client := &http.Client{Transport: r, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if config.Type == "sse" {
		r.Transport = &mcp.SSEClientTransport{Endpoint: config.URI, HTTPClient: client, MaxEventSize: maxMessage + aroundMessage}
	} else {
		// By itself, the library would bound neither events nor, see meet, answers of JSON.
		r.Transport = &mcp.StreamableClientTransport{Endpoint: config.URI, HTTPClient: client, MaxEventSize: maxMessage + aroundMessage}
		r.streamable = true
	}
	return r
}

// origin returns the scheme, host and port of a URL: all of it that a reason may tell.
func origin(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return u.Scheme + "://" + host
}

// agreed notes the version of the protocol, which all requests name from then on (MCP 2025-06-18, Protocol Version Header).
// The library does so for connections of its own alone.
func (r *remote) agreed(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = version
}

// session returns the id that the server has given the connection, empty if it has given none.
func (r *remote) session() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessionID
}

// stop ends what the library leaves open.
func (r *remote) stop() { r.base.CloseIdleConnections() }

// RoundTrip adds the headers of the extension and of the protocol.
func (r *remote) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	if origin(r.uri) != origin(request.URL) {
		r.note(noMCP) // it has named another origin for messages, which nobody has allowed it
		return nil, noMCP
	}
	if r.streamable {
		r.mark(request)
	}
	if request.Method == http.MethodDelete { // whose answer the library would wait for longer
		ctx, cancel := context.WithTimeout(request.Context(), farewell)
		defer cancel()
		request = request.WithContext(ctx)
	}
	for name, values := range r.headers {
		request.Header[name] = values
	}
	response, err := r.base.RoundTrip(request)
	switch {
	case err != nil && request.Context().Err() == nil: // and not because nobody waits for it any more
		r.note(reason("Cannot connect to " + origin(r.uri)))
	case err == nil && response.StatusCode/100 != 2:
		r.note(reason("Cannot connect to " + origin(r.uri) + ": " + statusname.Of(response.StatusCode)))
	}
	if err != nil {
		return nil, err
	}
	r.meet(response)
	if r.streamable && request.Method == http.MethodPost {
		response = r.checked(request, response)
	}
	return response, nil
}

func isStream(response *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}

func (r *remote) mark(request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version != "" {
		request.Header.Set(versionHeader, r.version)
	}
}

// meet bounds an answer, and notes the id that the first one has.
func (r *remote) meet(response *http.Response) {
	if !isStream(response) {
		response.Body = http.MaxBytesReader(nil, response.Body, int64(r.max))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessionID == "" {
		r.sessionID = response.Header.Get(sessionHeader)
	}
}

func (r *remote) note(why reason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == "" {
		r.fault = why
	}
}

func (r *remote) firstFault() reason {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}
