package stub

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/internal/plainjson"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// An authorization server keeps nothing: a code contains what its client must prove, and tokens are numbered. So its
// responses depend only on the requests, and a scenario can name the tokens.

// The paths of an authorization server (RFC 8414, section 3; RFC 9728, section 3). Clients add the path of an issuer
// or a resource before or after those of the documents.
const (
	serverDocument   = "/.well-known/oauth-authorization-server"
	resourceDocument = "/.well-known/oauth-protected-resource"
	registerPath     = "/register"
	authorizePath    = "/authorize"
	tokenPath        = "/token"
	revokePath       = "/revoke"
)

// What an authorization server returns. A refresh has the next number.
const (
	ClientID     = "lockstep-client"
	accessToken  = "lockstep-access-"
	refreshToken = "lockstep-refresh-"
)

// authorization returns the response of an authorization server; nil for a path that it does not have.
func authorization(s *Server, r *transcript.Request) *Answer {
	base, at := s.url, r.Method+" "+path(r)
	switch {
	case r.Method == "GET" && strings.Contains(path(r), serverDocument):
		return jsonAnswer(200, map[string]any{
			"issuer": base, "authorization_endpoint": base + authorizePath, "token_endpoint": base + tokenPath,
			"registration_endpoint": base + registerPath, "revocation_endpoint": base + revokePath,
			"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	case r.Method == "GET" && strings.Contains(path(r), resourceDocument):
		return jsonAnswer(200, map[string]any{"resource": base, "authorization_servers": []string{base}})
	case at == "POST "+registerPath:
		return register(r.Body.Bytes)
	case at == "GET "+authorizePath:
		return &Answer{Callback: &Callback{}}
	case at == "POST "+tokenPath:
		return token(r)
	case at == "POST "+revokePath: // RFC 7009, section 2.2: also for a token that does not exist
		return &Answer{Status: 200, Body: []byte{}}
	}
	return protected(s, r)
}

// register registers a client (RFC 7591, section 3).
func register(body []byte) *Answer {
	var client map[string]any
	if json.Unmarshal(body, &client) != nil || client == nil {
		return refused("invalid_client_metadata", "the body is not a JSON object")
	}
	addresses, _ := client["redirect_uris"].([]any)
	for _, a := range addresses {
		if text, _ := a.(string); !isAddress(text) {
			return refused("invalid_redirect_uri", "not an absolute URL")
		}
	}
	if len(addresses) == 0 {
		return refused("invalid_redirect_uri", "redirect_uris is missing")
	}
	client["client_id"] = ClientID
	return jsonAnswer(201, client)
}

// A Callback redirects the browser to the client, with a code and the client's state (RFC 6749, section 4.1.2). Its
// parameters replace these; nil leaves one out. With an error, there is no code.
type Callback map[string]*string

// answer returns the redirection of a request for authorization, with further header fields. A client that cannot be
// found gets an error.
func (c Callback) answer(r *transcript.Request, header transcript.Header) *Answer {
	location, wrong := c.location(r)
	if wrong != "" {
		return refused("invalid_request", wrong)
	}
	return &Answer{Status: 302, Header: append(transcript.Header{{Name: "Location", Value: location}}, header...), Body: []byte{}}
}

// location returns where a request for authorization is redirected to, or what is wrong with it.
func (c Callback) location(r *transcript.Request) (location, wrong string) {
	_, query, _ := strings.Cut(r.Target, "?")
	asked, _ := url.ParseQuery(query)
	to, err := url.Parse(asked.Get("redirect_uri"))
	if err != nil || !isAddress(asked.Get("redirect_uri")) {
		return "", "redirect_uri is not an absolute URL"
	}
	given := url.Values{"state": asked["state"]}
	switch challenge := asked.Get("code_challenge"); {
	case asked.Get("response_type") != "code":
		given.Set("error", "unsupported_response_type")
	case asked.Get("client_id") == "" || challenge == "" || asked.Get("code_challenge_method") != "S256":
		given.Set("error", "invalid_request")
	default:
		given.Set("code", encodeCode(grant{challenge, asked.Get("client_id"), to.String()}))
	}
	if c["error"] != nil {
		given.Del("code")
	}
	for name, value := range c {
		if given.Del(name); value != nil {
			given.Set(name, *value)
		}
	}
	all := to.Query()
	for name, values := range given {
		all[name] = values
	}
	to.RawQuery = all.Encode()
	return to.String(), ""
}

// A grant is what a code stands for.
type grant struct{ Challenge, Client, Redirect string }

func encodeCode(g grant) string { return base64.RawURLEncoding.EncodeToString(plainjson.Encode(g)) }

func decodeCode(code string) (g grant, ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(code)
	return g, err == nil && json.Unmarshal(data, &g) == nil
}

// token exchanges a code, or refreshes a token (RFC 6749, sections 4.1.3 and 6; RFC 7636, section 4.6).
func token(r *transcript.Request) *Answer {
	form, err := url.ParseQuery(string(r.Body.Bytes))
	if err != nil {
		return refused("invalid_request", "the body is not a form")
	}
	switch form.Get("grant_type") {
	case "authorization_code":
		g, ok := decodeCode(form.Get("code"))
		proof := sha256.Sum256([]byte(form.Get("code_verifier")))
		switch {
		case !ok:
			return refused("invalid_grant", "this is not a code of the server")
		case form.Get("redirect_uri") != g.Redirect:
			return refused("invalid_grant", "redirect_uri is not that of the request for the code")
		case cmp.Or(form.Get("client_id"), basicUser(r.Header)) != g.Client:
			return refused("invalid_grant", "the code belongs to another client")
		case base64.RawURLEncoding.EncodeToString(proof[:]) != g.Challenge:
			return refused("invalid_grant", "code_verifier does not match code_challenge")
		}
		return tokens(1)
	case "refresh_token":
		number, known := strings.CutPrefix(form.Get("refresh_token"), refreshToken)
		n, err := strconv.Atoi(number)
		if !known || err != nil || n < 1 {
			return refused("invalid_grant", "this is not a refresh token of the server")
		}
		return tokens(n + 1)
	}
	return refused("unsupported_grant_type", "grant_type is neither authorization_code nor refresh_token")
}

func tokens(n int) *Answer {
	a := jsonAnswer(200, map[string]any{
		"access_token": accessToken + strconv.Itoa(n), "token_type": "Bearer", "expires_in": 3600, "refresh_token": refreshToken + strconv.Itoa(n),
	})
	a.Header = append(a.Header, transcript.Field{Name: "Cache-Control", Value: "no-store"})
	return a
}

// basicUser returns the user of HTTP Basic authentication, which is how a client with a secret names itself (RFC 6749,
// section 2.3.1).
func basicUser(h transcript.Header) string {
	field, _ := h.Get("Authorization")
	text, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(field, "Basic "))
	user, _, _ := strings.Cut(string(text), ":")
	name, _ := url.QueryUnescape(user)
	return name
}

func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.IsAbs() && u.Host != ""
}

func jsonAnswer(status int, value any) *Answer {
	return &Answer{Status: status, Header: jsonHeader(), Body: plainjson.Encode(value)}
}

// refused is an error of an authorization server (RFC 6749, section 5.2).
func refused(code, description string) *Answer {
	return jsonAnswer(400, map[string]string{"error": code, "error_description": description})
}
