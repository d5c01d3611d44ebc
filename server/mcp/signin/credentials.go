package signin

import (
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// credentials are what is stored (decision X49).
type credentials struct {
	clientID, clientSecret string
	token
	uri, tokenEndpoint string // "" if unknown
}

// A token is what an authorization server has issued (decision X55).
type token struct {
	access         string
	expiresIn      int64 // in seconds; 0 if unknown
	refresh, scope string
	received       int64 // in seconds since 1970; 0 if unknown
}

// isDue reports whether the token is to be renewed (decision X57).
func (t token) isDue(now time.Time) bool {
	if t.expiresIn == 0 || t.received == 0 {
		return false
	}
	life := time.Duration(t.expiresIn) * time.Second
	return !now.Before(time.Unix(t.received, 0).Add(life - min(30*time.Second, life/2)))
}

const (
	maxAccess  = 16384         // characters of an access token
	maxExpires = math.MaxInt32 // seconds
)

// parseToken returns the token of an answer, or of stored credentials, without the time of its arrival.
func parseToken(json jsonwire.Text) (t token, ok bool) {
	t = token{access: json.Get("access_token").Str(), expiresIn: seconds(json.Get("expires_in")), refresh: json.Get("refresh_token").Str(), scope: json.Get("scope").Str()}
	other := strings.IndexFunc(t.access, func(c rune) bool { return c < '!' || c > '~' })
	return t, t.access != "" && len(t.access) <= maxAccess && other < 0
}

// seconds returns the seconds of a number, or of a text that is one. Others are 0.
func seconds(json jsonwire.Text) int64 {
	digits := string(json)
	switch json.Kind() {
	case "string":
		digits = json.Str()
		if v, err := decode.Parse([]byte(digits)); err != nil || jsonwire.Text(digits).Kind() != "number" || v.Size() != len(digits) {
			return 0
		}
	case "number":
	default:
		return 0
	}
	n, err := strconv.ParseFloat(digits, 64)
	if n = math.Trunc(n); err != nil || n < 1 || n > maxExpires {
		return 0
	}
	return int64(n)
}

// key is the name of the secret of an extension.
func key(name string) string { return "oauth_creds_" + name }

// load returns the stored credentials for a server, or nil if none count.
func (s *SignIns) load(name string, uri *url.URL) (*credentials, error) {
	raw, err := s.secrets.Secret(key(name))
	if err != nil {
		s.log.Warn("secret not read", "extension", name, "err", err)
		return nil, unreadable
	}
	return parseCredentials(jsonwire.Text(raw), uri), nil
}

func parseCredentials(json jsonwire.Text, uri *url.URL) *credentials {
	if json.Kind() != "object" {
		return nil
	}
	id, at := json.Get("client_id"), json.Get("uri")
	t, ok := parseToken(json.Get("token_response"))
	if id.Kind() != "string" || !ok {
		return nil
	}
	if other, err := url.Parse(at.Str()); at != nil && (at.Kind() != "string" || err != nil || canonical(other) != canonical(uri)) {
		return nil
	}
	if received, whole := json.Get("token_received_at").Integer(); whole {
		t.received = max(0, min(received, math.MaxInt32<<8))
	}
	c := &credentials{clientID: id.Str(), clientSecret: json.Get("client_secret").Str(), token: t, uri: uri.String()}
	if endpoint := json.Get("token_endpoint"); endpoint != nil {
		c.tokenEndpoint = endpoint.Str()
		if c.tokenEndpoint == "" {
			return nil
		}
	}
	return c
}

// save stores credentials.
func (s *SignIns) save(name string, c credentials) error {
	if err := s.secrets.SetSecret(key(name), json.RawMessage(jsonwire.Of(c))); err != nil {
		s.log.Warn("secret not written", "extension", name, "err", err)
		return unwritable
	}
	return nil
}

// forget deletes the stored credentials.
func (s *SignIns) forget(name string) error {
	if err := s.secrets.RemoveSecret(key(name)); err != nil {
		s.log.Warn("secret not removed", "extension", name, "err", err)
		return unwritable
	}
	return nil
}

// Write writes the credentials as they are stored.
func (c credentials) Write(w *jsonwire.Writer) {
	text := func(name, value string) {
		if value != "" {
			w.Name(name).String(value)
		}
	}
	w.Open('{')
	w.Name("client_id").String(c.clientID)
	w.Name("token_response").Open('{')
	text("access_token", c.access)
	text("token_type", "bearer")
	if c.expiresIn > 0 {
		w.Name("expires_in").Int(c.expiresIn)
	}
	text("refresh_token", c.refresh)
	text("scope", c.scope)
	w.Close('}')
	text("client_secret", c.clientSecret)
	if c.received > 0 {
		w.Name("token_received_at").Int(c.received)
	}
	text("uri", c.uri)
	text("token_endpoint", c.tokenEndpoint)
	w.Close('}')
}
