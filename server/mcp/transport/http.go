package transport

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/mcp/client"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/httpstatus"
)

// HTTP reaches a server over HTTP. It notes what goes wrong first: the library says it only in its own words.
type HTTP struct {
	mcp.Transport
	uri     *url.URL
	headers http.Header
	base    *http.Transport
	max     int // bytes of a message

	streamable bool // it is the newer transport, which has sessions

	mu        sync.Mutex
	fault     mcperror.Reason
	sessionID string
	version   string // of the protocol, once it is agreed on
}

// What requests of streamable HTTP have in common, once the server has answered.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

// NewHTTP returns a connection to a URL that is not made yet. If it is streamable it uses the newer transport, which has
// sessions, else that of server-sent events. The endpoint is the text of the URL. MaxMessage bounds a message, in bytes.
func NewHTTP(streamable bool, endpoint string, uri *url.URL, headers http.Header, maxMessage int) *HTTP {
	r := &HTTP{uri: uri, headers: headers, max: maxMessage, streamable: streamable, base: &http.Transport{MaxResponseHeaderBytes: 1 << 20, TLSHandshakeTimeout: 10 * time.Second}}
	client := &http.Client{Transport: r, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if streamable {
		// By itself, the library would bound neither events nor, see meet, answers of JSON.
		r.Transport = &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: client, MaxEventSize: maxMessage + aroundMessage}
	} else {
		r.Transport = &mcp.SSEClientTransport{Endpoint: endpoint, HTTPClient: client, MaxEventSize: maxMessage + aroundMessage}
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

// Agreed notes the version of the protocol, which all requests name from then on (MCP 2025-06-18, Protocol Version Header).
// The library does so for connections of its own alone.
func (r *HTTP) Agreed(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = version
}

// session returns the id that the server has given the connection, empty if it has given none.
func (r *HTTP) session() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessionID
}

// Stop ends what the library leaves open.
func (r *HTTP) Stop() { r.base.CloseIdleConnections() }

// RoundTrip adds the headers of the extension and of the protocol.
func (r *HTTP) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	if origin(r.uri) != origin(request.URL) {
		r.note(mcperror.NotMCP) // it has named another origin for messages, which is not allowed
		return nil, mcperror.NotMCP
	}
	if r.streamable {
		r.mark(request)
	}
	if request.Method == http.MethodDelete { // whose answer the library would wait for longer
		ctx, cancel := context.WithTimeout(request.Context(), client.Farewell)
		defer cancel()
		request = request.WithContext(ctx)
	}
	for name, values := range r.headers {
		request.Header[name] = values
	}
	response, err := r.base.RoundTrip(request)
	switch {
	case err != nil && request.Context().Err() == nil: // and the caller still waits
		r.note(mcperror.Reason("Cannot connect to " + origin(r.uri)))
	case err == nil && response.StatusCode/100 != 2:
		r.note(mcperror.Reason("Cannot connect to " + origin(r.uri) + ": " + httpstatus.Of(response.StatusCode)))
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

func (r *HTTP) mark(request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version != "" {
		request.Header.Set(versionHeader, r.version)
	}
}

// meet bounds an answer, and notes the id that the first one has.
func (r *HTTP) meet(response *http.Response) {
	if !isStream(response) {
		response.Body = http.MaxBytesReader(nil, response.Body, int64(r.max))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sessionID == "" {
		r.sessionID = response.Header.Get(sessionHeader)
	}
}

func (r *HTTP) note(why mcperror.Reason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == "" {
		r.fault = why
	}
}

// FirstFault returns what went wrong first, empty if nothing did.
func (r *HTTP) FirstFault() mcperror.Reason {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}
