package client

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/httpstatus"
)

// HTTP connects to a server over HTTP. It records the first error, because the library only reports errors in its own
// words.
type HTTP struct {
	mcp.Transport
	uri     *url.URL
	headers http.Header
	base    *http.Transport
	max     int // bytes of a message

	streamable bool // uses the newer transport, which has sessions
	tokens     Tokens

	mu        sync.Mutex
	refusal   refusal
	fault     mcperror.Reason
	sessionID string
	version   string // of the protocol, once agreed on
}

// Requests over streamable HTTP have these headers after the server's first answer.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

// NewHTTP returns a transport to a URL, without connecting. If streamable is true, it is the newer transport, which
// has sessions, and otherwise that of server-sent events. endpoint is the text of the URL. maxMessage limits a
// message, in bytes.
func NewHTTP(streamable bool, endpoint string, uri *url.URL, headers http.Header, maxMessage int) *HTTP {
	r := &HTTP{uri: uri, headers: headers, max: maxMessage, streamable: streamable, base: &http.Transport{MaxResponseHeaderBytes: 1 << 20, TLSHandshakeTimeout: 10 * time.Second}}
	client := &http.Client{Transport: r, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if streamable {
		// By itself, the library would limit neither events nor JSON answers; for the latter see meet.
		r.Transport = &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: client, MaxEventSize: maxMessage + aroundMessage}
	} else {
		r.Transport = &mcp.SSEClientTransport{Endpoint: endpoint, HTTPClient: client, MaxEventSize: maxMessage + aroundMessage}
	}
	return r
}

// origin returns the scheme, host and port of a URL, which is all that an error may reveal.
func origin(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return u.Scheme + "://" + host
}

// Agreed records the protocol version, which all later requests include (MCP 2025-06-18, Protocol Version Header).
// The library only includes it on its own connections.
func (r *HTTP) Agreed(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = version
}

// session returns the ID that the server has given the connection, or "".
func (r *HTTP) session() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessionID
}

// Stop closes connections that the library leaves open.
func (r *HTTP) Stop() { r.base.CloseIdleConnections() }

// RoundTrip adds the headers of the extension and of the protocol.
func (r *HTTP) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	if origin(r.uri) != origin(request.URL) {
		r.note(mcperror.NotMCP) // the server named another origin for messages, which is not allowed
		return nil, mcperror.NotMCP
	}
	if r.streamable {
		r.mark(request)
	}
	if request.Method == http.MethodDelete { // the library would wait longer for its answer
		ctx, cancel := context.WithTimeout(request.Context(), farewell)
		defer cancel()
		request = request.WithContext(ctx)
	}
	for name, values := range r.headers {
		request.Header[name] = values
	}
	response, err := r.send(request)
	switch {
	case err != nil && request.Context().Err() == nil: // the caller is still waiting
		r.note(mcperror.Reason("Cannot connect to " + origin(r.uri)))
	case err == nil && response.StatusCode/100 != 2:
		r.note(mcperror.Reason("Cannot connect to " + origin(r.uri) + ": " + httpstatus.Of(response.StatusCode)))
	}
	if err != nil {
		return nil, err
	}
	r.refused(request, response)
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

// meet limits an answer, and records the session ID of the first one.
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

// FirstFault returns the first error, or "" if there is none.
func (r *HTTP) FirstFault() mcperror.Reason {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}
