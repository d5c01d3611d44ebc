package signin

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

const (
	maxDocument  = 1 << 20 // bytes, decoded
	maxRedirects = 5
	maxClient    = 4 << 10 // bytes of a client's ID and of its secret
)

// A web sends the requests of a sign-in. They reach only what the scheme of the server's URI allows (decision X51).
type web struct {
	transport http.RoundTripper
	times     times
	uri       *url.URL
}

// newTransport returns a transport without a proxy, that keeps no connections.
func newTransport() *http.Transport {
	return &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: 1 << 20, TLSHandshakeTimeout: 10 * time.Second}
}

// An answer is what a server has answered.
type answer struct {
	status int
	header http.Header
	url    *url.URL
	body   jsonwire.Text // nil if it is no JSON object
}

func (a answer) isSuccess() bool { return a.status/100 == 2 }

// get gets a document, and follows redirects (decision X50). ok is false if there is no answer.
func (w *web) get(ctx context.Context, at *url.URL) (a answer, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, w.times.request)
	defer cancel()
	for range maxRedirects + 1 {
		a, err := w.send(ctx, http.MethodGet, at, http.Header{"Mcp-Protocol-Version": {"2024-11-05"}}, "")
		if err != nil {
			return answer{}, false
		}
		switch a.status {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			return a, true
		}
		if at, ok = w.resolve(at, a.header.Get("Location")); !ok {
			return answer{}, false
		}
	}
	return answer{}, false
}

// resolve returns the URL to which a reference leads, if it may be asked.
func (w *web) resolve(from *url.URL, reference string) (*url.URL, bool) {
	to, err := from.Parse(reference)
	if err != nil || reference == "" {
		return nil, false
	}
	if _, ok := usable(to.String(), w.uri); !ok {
		return nil, false
	}
	return to, true
}

// send sends one request.
func (w *web) send(ctx context.Context, method string, to *url.URL, header http.Header, body string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader([]byte(body)))
	if err != nil {
		return answer{}, err
	}
	if body == "" {
		request.Body, request.GetBody = http.NoBody, nil
	}
	request.Header = header
	response, err := w.transport.RoundTrip(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, header: response.Header, url: to}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/event-stream" || !a.isSuccess() {
		return a, nil
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	if err != nil {
		return answer{}, err
	}
	if len(text) <= maxDocument {
		a.body = object(text)
	}
	return a, nil
}

// object returns a text as canonical JSON, or nil if it is no JSON object.
func object(text []byte) jsonwire.Text {
	if _, err := decode.Parse(text); err != nil {
		return nil
	}
	json, err := jsonwire.Parse(text)
	if err != nil || json.Kind() != "object" {
		return nil
	}
	return json
}

// post posts a body, without following redirects.
func (w *web) post(ctx context.Context, endpoint string, header http.Header, body string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, w.times.request)
	defer cancel()
	to, ok := usable(endpoint, w.uri)
	if !ok {
		return answer{}, errFailed
	}
	return w.send(ctx, http.MethodPost, to, header, body)
}

// register returns the ID of a client for the sign-in, and its secret if it has one (decision X52).
func (w *web) register(ctx context.Context, endpoint, redirectURI string) (id, secret string) {
	const unregistered = "mcp-client"
	if endpoint == "" {
		return unregistered, ""
	}
	body := jsonwire.NewWriter(nil)
	body.Open('{')
	body.Name("client_name").String("goose")
	body.Name("redirect_uris").Raw(jsonwire.Marshal([]string{redirectURI}))
	body.Name("grant_types").Raw([]byte(`["authorization_code","refresh_token"]`))
	body.Name("token_endpoint_auth_method").String("none")
	body.Name("response_types").Raw([]byte(`["code"]`))
	body.Close('}')
	a, err := w.post(ctx, endpoint, http.Header{"Content-Type": {"application/json"}}, string(body.Text()))
	id, secret = a.body.Get("client_id").Str(), a.body.Get("client_secret").Str()
	if err != nil || id == "" || len(id) > maxClient || len(secret) > maxClient {
		return unregistered, ""
	}
	return id, secret
}

var (
	errRefused = errors.New("the authorization server refuses")
	errFailed  = errors.New("the authorization server cannot be asked, or its answer is no token")
)

// token asks for a token (decision X55). The error is [errRefused] or [errFailed].
func (w *web) token(ctx context.Context, c credentials, parameters map[string]string) (token, error) {
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}}
	if c.clientSecret == "" {
		parameters["client_id"] = c.clientID
	} else {
		basic := encoded(c.clientID) + ":" + encoded(c.clientSecret)
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(basic)))
	}
	a, err := w.post(ctx, c.tokenEndpoint, header, form(parameters))
	switch {
	case err == nil && a.status/100 == 4 && a.status != http.StatusRequestTimeout && a.status != http.StatusTooManyRequests:
		return token{}, errRefused
	case err != nil:
		return token{}, errFailed
	}
	t, ok := parseToken(a.body)
	if !ok || !strings.EqualFold(a.body.Get("token_type").Str(), "bearer") {
		return token{}, errFailed
	}
	t.received = time.Now().Unix()
	return t, nil
}

// refresh returns the credentials with a new token (decision X56). otherwise is the endpoint if they name none.
func (w *web) refresh(ctx context.Context, c credentials, otherwise string) (credentials, error) {
	if c.tokenEndpoint == "" {
		c.tokenEndpoint = otherwise
	}
	t, err := w.token(ctx, c, map[string]string{"grant_type": "refresh_token", "refresh_token": c.refresh})
	if err != nil {
		return credentials{}, err
	}
	if t.refresh == "" {
		t.refresh = c.refresh
	}
	if t.scope == "" {
		t.scope = c.scope
	}
	c.token = t
	return c, nil
}
