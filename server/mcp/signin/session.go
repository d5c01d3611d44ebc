package signin

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"
)

// A Session has the token of one connection. Its methods are safe for concurrent use.
type Session struct {
	s        *SignIns
	name     string
	uri      *url.URL
	metadata metadata
	stored   bool

	mu    sync.Mutex
	token token
}

// WasStored reports whether the token is one of an earlier sign-in.
func (c *Session) WasStored() bool { return c.stored }

// Current returns the access token, and whether it is due for renewal.
func (c *Session) Current() (access string, isDue bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token.access, c.token.isDue(time.Now())
}

// errNoCredentials is why a token is not renewed without an answer of the authorization server.
var errNoCredentials = errors.New("no credentials to refresh it")

// Renew returns another access token than an old one, which the server has rejected or which is due (decision X57).
// ok is false if there is none; that is logged.
func (c *Session) Renew(ctx context.Context, old string, rejected bool) (access string, ok bool) {
	access, err := step(ctx, c.s, c.name, func(ctx context.Context) (string, error) {
		if access, isDue := c.Current(); access != old && !isDue {
			return access, nil // another request of the connection has renewed it
		}
		t, err := c.renewed(ctx, old, rejected)
		if err != nil {
			return "", err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.token = t
		return t.access, nil
	})
	if err != nil && ctx.Err() == nil {
		c.s.log.WarnContext(ctx, "token not renewed", "extension", c.name, "err", err)
	}
	return access, err == nil
}

// renewed returns the token after an old one. It takes a stored one, or refreshes it.
func (c *Session) renewed(ctx context.Context, old string, rejected bool) (token, error) {
	stored, err := c.s.load(c.name, c.uri)
	switch {
	case err != nil:
		return token{}, err
	case stored == nil:
		return token{}, errNoCredentials
	case stored.access != old && !stored.isDue(time.Now()):
		return stored.token, nil
	case stored.refresh == "":
		if rejected {
			_ = c.s.forget(c.name) // its failure is logged
		}
		return token{}, errNoCredentials
	}
	refreshed, err := (&attempt{s: c.s, uri: c.uri}).web().refresh(ctx, *stored, c.metadata.token)
	if errors.Is(err, errRefused) {
		_ = c.s.forget(c.name) // its failure is logged
	}
	if err != nil {
		return token{}, err
	}
	_ = c.s.save(c.name, refreshed) // its failure is logged; the token is used all the same
	return refreshed.token, nil
}
