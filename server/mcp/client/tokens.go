package client

import (
	"context"
	"net/http"
	"sync/atomic"
)

// Tokens has the access token of a connection whose user has signed in.
type Tokens interface {
	// Current returns the token, and whether it is due for renewal.
	Current() (token string, isDue bool)
	// Renew returns another token than an old one, which the server has rejected or which is due.
	Renew(ctx context.Context, old string, rejected bool) (token string, ok bool)
}

// Authorize sends requests over streamable HTTP with a token. It must be called before the transport connects.
func (r *HTTP) Authorize(tokens Tokens) { r.tokens = tokens }

// send sends a request, with the token if the user has signed in. A request has at most one renewal of the token, and
// after a renewal it is sent again at most once (decision X57). The first request has no renewal, and the last has none.
func (r *HTTP) send(request *http.Request) (*http.Response, error) {
	if r.tokens == nil {
		return r.base.RoundTrip(request)
	}
	token, isDue := r.tokens.Current()
	mayRenew := r.isAgreed() && request.Method != http.MethodDelete
	if mayRenew && isDue {
		mayRenew = false
		if renewed, ok := r.tokens.Renew(request.Context(), token, false); ok {
			token = renewed
		}
	}
	response, err := r.base.RoundTrip(authorized(request, token))
	if err != nil || response.StatusCode != http.StatusUnauthorized || !mayRenew {
		return response, err
	}
	renewed, ok := r.tokens.Renew(request.Context(), token, true)
	if !ok {
		return response, nil
	}
	again := authorized(request, renewed)
	if request.GetBody != nil {
		if again.Body, err = request.GetBody(); err != nil {
			return response, nil
		}
	}
	response.Body.Close()
	return r.base.RoundTrip(again)
}

// authorized returns a request with a token, which replaces a configured Authorization.
func authorized(request *http.Request, token string) *http.Request {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+token)
	return request
}

// A refusal says how the first request was answered.
type refusal int

const (
	accepted   refusal = iota
	rejected           // by 401
	challenged         // by 401 with a WWW-Authenticate field
)

// IsRejected reports whether the first request over streamable HTTP was answered by 401.
func (r *HTTP) IsRejected() bool { return r.firstRefusal() != accepted }

// IsChallenged reports whether that answer demands that the user signs in (decision X47).
func (r *HTTP) IsChallenged() bool { return r.firstRefusal() == challenged }

func (r *HTTP) firstRefusal() refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refusal
}

// refused records that the server demands a token. The body of such an answer to the first request is not read.
func (r *HTTP) refused(request *http.Request, response *http.Response) {
	if !r.streamable || response.StatusCode != http.StatusUnauthorized {
		return
	}
	if r.isAgreed() {
		if signedOut, ok := request.Context().Value(signedOutKey{}).(*atomic.Bool); ok && r.tokens != nil {
			signedOut.Store(true)
		}
		return
	}
	response.Body.Close()
	response.Body = http.NoBody
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusal = rejected
	if len(response.Header.Values("WWW-Authenticate")) > 0 {
		r.refusal = challenged
	}
}

// signedOutKey is the context key of what records that a request was sent without a valid token.
type signedOutKey struct{}
