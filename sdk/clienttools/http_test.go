package clienttools_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

// answering returns a client whose requests all get this response.
func answering(t *testing.T, status int, body io.Reader) *clienttools.Client {
	t.Helper()
	c, err := clienttools.New("http://x/base/", &clienttools.Options{HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path != "/base/agent/start" {
			t.Errorf("request for %s", r.URL.Path)
		}
		return &http.Response{StatusCode: status, Body: io.NopCloser(body)}, nil
	})}})
	must(t, err)
	return c
}

func TestErrorResponsesAreReadInAllTheirForms(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":"Unknown request ID"}`:                                      "Unknown request ID",
		`{"error":{"code":"NOT_FOUND","message":"Tool not found"}}`:           "Tool not found",
		`{"name":"UnknownError","data":{"message":"Error: Malformed JSON"}}`:  "Error: Malformed JSON",
		`{"data":{},"error":[{"path":["tools",0,"id"],"message":"Invalid"}]}`: "tools.0.id: Invalid",
		`{"data":{},"error":[{"path":[],"message":"Invalid"}]}`:               "Invalid",
		`{"message":"goose"}`: "goose",
		`{"error":5}`:         "Conflict",
		`<html>`:              "Conflict",
		"":                    "Conflict",
	} {
		_, err := answering(t, http.StatusConflict, strings.NewReader(body)).StartSession(t.Context(), "/w")
		var status *clienttools.StatusError
		if !errors.As(err, &status) || *status != (clienttools.StatusError{Status: 409, Message: want}) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

func TestAPlainTextIsTheMessageOfAnError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, " Unknown provider: x"+strings.Repeat(" ", 300), http.StatusBadRequest)
	}))
	defer server.Close()
	c, err := clienttools.New(server.URL, nil)
	must(t, err)
	defer c.Close()
	if _, err := c.StartSession(t.Context(), "/w"); err == nil || err.Error() != "start session: 400: Unknown provider: x" {
		t.Errorf("StartSession: %v", err)
	}
}

func TestResponsesAreBounded(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`{"id":"`), zeros{})
	_, err := answering(t, http.StatusOK, endless).StartSession(t.Context(), "/w")
	if want := "start session: response to POST /agent/start: more than 16 MiB"; err == nil || err.Error() != want {
		t.Errorf("StartSession: %v, want %s", err, want)
	}
	endless = io.MultiReader(strings.NewReader(`{"error":"`), zeros{})
	if _, err := answering(t, http.StatusConflict, endless).StartSession(t.Context(), "/w"); err == nil || err.Error() != "start session: 409: Conflict" {
		t.Errorf("StartSession: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// The key must not go where a redirect points.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("it got %s with the key %q", r.URL, r.Header.Get("X-Secret-Key"))
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	c, err := clienttools.New(server.URL, &clienttools.Options{SecretKey: "key"})
	must(t, err)
	defer c.Close()
	if _, err := c.StartSession(t.Context(), "/w"); err == nil || err.Error() != "start session: 307: Temporary Redirect" {
		t.Errorf("StartSession: %v", err)
	}
}
