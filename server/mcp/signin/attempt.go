package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
)

// An attempt is one sign-in.
type attempt struct {
	s    *SignIns
	name string // of the extension
	uri  *url.URL

	rejected string   // the stored token that the server has rejected, or ""
	metadata metadata // that were found then
}

func (a *attempt) web() *web { return &web{transport: a.s.transport, times: a.s.times, uri: a.uri} }

// run returns a stored token, or one for which the user has signed in.
func (a *attempt) run(ctx context.Context) (grant, error) {
	if a.rejected == "" {
		if _, err := a.s.load(a.name, a.uri); err != nil {
			return grant{}, err
		}
		found, err := a.web().discover(ctx)
		if err != nil {
			return grant{}, err
		}
		a.metadata = found
	}
	stored, err := step(ctx, a.s, a.name, a.reuse)
	if err != nil {
		return grant{}, err
	}
	if stored != nil {
		return grant{token: stored.token, metadata: a.metadata, stored: a.rejected == ""}, nil
	}
	c, err := a.ask(ctx)
	if err != nil {
		return grant{}, err
	}
	_, err = step(ctx, a.s, a.name, func(context.Context) (struct{}, error) {
		if ctx.Err() != nil { // no request waits any more
			return struct{}{}, context.Cause(ctx)
		}
		return struct{}{}, a.s.save(a.name, c)
	})
	return grant{token: c.token, metadata: a.metadata}, err
}

// reuse returns the stored credentials, refreshed if they can be, or nil if the user must sign in. Credentials that have
// become useless are deleted (decision X49).
func (a *attempt) reuse(ctx context.Context) (*credentials, error) {
	c, err := a.s.load(a.name, a.uri)
	if err != nil || c == nil || c.tokenEndpoint != "" && c.tokenEndpoint != a.metadata.token {
		return nil, err
	}
	switch isDue := c.isDue(time.Now()); {
	case a.rejected == c.access, a.rejected == "" && c.refresh == "" && isDue:
		return nil, a.s.forget(a.name)
	case a.rejected != "" && isDue:
		return nil, nil
	case a.rejected != "", c.refresh == "": // another request has stored it meanwhile; or it is valid
		return c, nil
	}
	refreshed, err := a.web().refresh(ctx, *c, a.metadata.token)
	switch {
	case errors.Is(err, errRefused):
		return nil, a.s.forget(a.name)
	case err != nil:
		return nil, notRefreshed
	}
	return &refreshed, a.s.save(a.name, refreshed)
}

// ask makes the user sign in (GA 31.3).
func (a *attempt) ask(ctx context.Context) (credentials, error) {
	state, verifier := random(), random()
	answers, err := listen(state, a.s.times.connection)
	if err != nil {
		return credentials{}, noPort
	}
	defer answers.close()
	w := a.web()
	id, secret := w.register(ctx, a.metadata.registration, answers.redirectURI())
	challenge := sha256.Sum256([]byte(verifier))
	page := withQuery(a.metadata.authorization, form(map[string]string{
		"response_type": "code", "client_id": id, "state": state, "redirect_uri": answers.redirectURI(),
		"code_challenge": base64.RawURLEncoding.EncodeToString(challenge[:]), "code_challenge_method": "S256",
	}))
	if ctx.Err() != nil {
		return credentials{}, context.Cause(ctx)
	}
	code, err := a.await(ctx, page, answers)
	if err != nil {
		return credentials{}, err
	}
	answers.close()
	c := credentials{clientID: id, clientSecret: secret, uri: a.uri.String(), tokenEndpoint: a.metadata.token}
	c.token, err = w.token(ctx, c, map[string]string{
		"grant_type": "authorization_code", "code": code, "code_verifier": verifier, "redirect_uri": answers.redirectURI(),
	})
	if err != nil {
		return credentials{}, noToken
	}
	return c, nil
}

// await opens a page, or prints its address, and returns the code that the user brings back.
func (a *attempt) await(ctx context.Context, page string, answers *callback) (code string, err error) {
	a.s.log.Info("browser opened for a sign-in", "extension", a.name)
	failed := a.s.browser.open(page)
	timer := time.NewTimer(a.s.times.user)
	defer timer.Stop()
	for {
		select {
		case o := <-answers.outcome:
			return o.code, o.err
		case <-failed:
			// Not through the log, which has a file (decision X53).
			_, _ = fmt.Fprintln(a.s.pages, page)
		case <-timer.C:
			return "", noAnswer
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// random returns 32 random bytes as text.
func random() string {
	bytes := make([]byte, 32)
	_, _ = rand.Read(bytes) // never fails
	return base64.RawURLEncoding.EncodeToString(bytes)
}

// logEnd logs the end of the sign-in.
func (a *attempt) logEnd(err error) {
	switch why, ok := errors.AsType[mcperror.Reason](err); {
	case err == nil:
		a.s.log.Info("signed in", "extension", a.name)
	case !ok || why == noLongerAsked || why == mcperror.Closed:
		a.s.log.Info("sign-in ended", "extension", a.name, "err", err)
	default:
		a.s.log.Warn("sign-in failed", "extension", a.name, "err", err)
	}
}
