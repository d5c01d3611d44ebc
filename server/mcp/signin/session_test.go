package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// session returns a session with the token "old", whose credentials are stored.
func (d *desk) session(t *testing.T, a *authority, c credentials) *Session {
	t.Helper()
	if err := d.save("Far", c); err != nil {
		t.Fatal(err)
	}
	return &Session{s: d.SignIns, name: "Far", uri: a.uri(t), metadata: metadata{token: a.URL + "/token"}, token: token{access: "old"}}
}

func refreshable() credentials {
	return credentials{clientID: "c", token: token{access: "old", refresh: "CANARY-old", scope: "all"}}
}

func TestATokenIsRenewed(t *testing.T) {
	a, d := newAuthority(t), newDesk(t)
	c := d.session(t, a, refreshable())
	access, ok := c.Renew(t.Context(), "old", true)
	if current, isDue := c.Current(); !ok || access != "CANARY-access-1" || current != access || isDue {
		t.Errorf("%q, %v, and then %q, %v", access, ok, current, isDue)
	}
	if form := a.requests()[0].Encode(); form != "client_id=c&grant_type=refresh_token&refresh_token=CANARY-old" {
		t.Error(form)
	}
	if stored := d.secrets.get("oauth_creds_Far"); !strings.Contains(stored, `"refresh_token":"CANARY-refresh-1","scope":"all"`) || !strings.Contains(stored, `"uri":`) {
		t.Errorf("stored %s", stored)
	}
}

// TestManyRequestsRefreshOnce checks decision X56.
func TestManyRequestsRefreshOnce(t *testing.T) {
	a, d := newAuthority(t), newDesk(t)
	c := d.session(t, a, refreshable())
	other := d.session(t, a, refreshable())
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			if access, ok := []*Session{c, other}[n%2].Renew(t.Context(), "old", true); access != "CANARY-access-1" || !ok {
				t.Errorf("%q, %v", access, ok)
			}
		})
	}
	all.Wait()
	if n := len(a.requests()); n != 1 {
		t.Errorf("%d refreshes, want 1", n)
	}
}

// TestTokensThatAreNotRenewed checks decision X57.
func TestTokensThatAreNotRenewed(t *testing.T) {
	status := func(status int) func(w http.ResponseWriter, _ *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"error":"CANARY-error","access_token":"CANARY-a","token_type":"bearer"}`)
		}
	}
	bare := credentials{clientID: "c", token: token{access: "old"}}
	elsewhere := refreshable()
	elsewhere.uri = "http://127.0.0.1:1/"
	unsafe := refreshable()
	unsafe.tokenEndpoint = "ftp://127.0.0.1/token"
	for name, tc := range map[string]struct {
		stored   credentials
		rejected bool
		answer   func(w http.ResponseWriter, r *http.Request)
		asked    int
		stays    bool
	}{
		"refused":      {refreshable(), true, status(400), 1, false},
		"refused, due": {refreshable(), false, status(403), 1, false},
		"down":         {refreshable(), true, status(503), 1, true},
		"busy":         {refreshable(), true, status(429), 1, true},
		"moved": {refreshable(), true, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/token", http.StatusTemporaryRedirect)
		}, 1, true},
		"not refreshable":         {bare, true, nil, 0, false},
		"not refreshable, due":    {bare, false, nil, 0, true},
		"of another server":       {elsewhere, true, nil, 0, true},
		"an endpoint of no value": {unsafe, true, nil, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, d := newAuthority(t), newDesk(t)
			a.token = tc.answer
			c := d.session(t, a, tc.stored)
			if access, ok := c.Renew(t.Context(), "old", tc.rejected); ok || access != "" {
				t.Errorf("renewed as %q", access)
			}
			if n := len(a.requests()); n != tc.asked {
				t.Errorf("%d requests, want %d", n, tc.asked)
			}
			if stays := d.secrets.get("oauth_creds_Far") != ""; stays != tc.stays {
				t.Errorf("the secret stays: %v, want %v", stays, tc.stays)
			}
			if text := d.log.String(); strings.Contains(text, "CANARY") || strings.Count(text, "\n") != 1 || !strings.Contains(text, "extension=Far") {
				t.Errorf("the log is\n%s", text)
			}
		})
	}
}

func TestATokenThatCannotBeStoredIsUsed(t *testing.T) {
	a, d := newAuthority(t), newDesk(t)
	c := d.session(t, a, refreshable())
	d.secrets.saving = errors.New("the disk is full")
	if access, ok := c.Renew(t.Context(), "old", true); !ok || access != "CANARY-access-1" || !strings.Contains(d.log.String(), "the disk is full") {
		t.Errorf("%q, %v; the log is\n%s", access, ok, &d.log)
	}
	// Another request with the old token takes it, although the old refresh token is used up.
	if access, ok := c.Renew(t.Context(), "old", true); !ok || access != "CANARY-access-1" || len(a.requests()) != 1 {
		t.Errorf("%q, %v after %d requests", access, ok, len(a.requests()))
	}
}

// TestARefreshIsCompleted checks decision X56: the server may have replaced the old refresh token.
func TestARefreshIsCompleted(t *testing.T) {
	a, d := newAuthority(t), newDesk(t)
	asked, answer := make(chan bool), make(chan bool)
	a.token = func(w http.ResponseWriter, _ *http.Request) {
		asked <- true
		<-answer
		fmt.Fprint(w, `{"access_token":"new","token_type":"bearer"}`)
	}
	c := d.session(t, a, refreshable())
	ctx, gone := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() {
		_, ok := c.Renew(ctx, "old", true)
		ended <- ok
	}()
	<-asked
	gone()
	if <-ended {
		t.Error("a request whose client has gone gets a token")
	}
	close(answer)
	d.working.Wait()
	if access, _ := c.Current(); access != "new" || !strings.Contains(d.secrets.get("oauth_creds_Far"), `"new"`) {
		t.Errorf("the token is %q; stored is %s", access, d.secrets.get("oauth_creds_Far"))
	}
}

// TestARejectedTokenIsDeletedOnce checks decision X49: a token that another request has stored meanwhile is taken.
func TestARejectedTokenIsDeletedOnce(t *testing.T) {
	a, d := newAuthority(t), newDesk(t)
	c := d.session(t, a, refreshable())
	c.metadata.authorization = a.URL + "/authorize"
	for n, want := range []string{"CANARY-access-1", "CANARY-access-1"} {
		done := make(chan *Session, 1)
		go func() {
			again, err := d.Again(t.Context(), c)
			if err != nil {
				t.Error(err)
			}
			done <- again
		}()
		if n == 0 {
			page := <-d.user
			if d.secrets.get("oauth_creds_Far") != "" {
				t.Error("the rejected token is still stored while the user signs in")
			}
			visit(back(page, "x"))
		}
		if access, _ := (<-done).Current(); access != want {
			t.Errorf("%d: %s, want %s", n, access, want)
		}
	}
}

func TestWhenATokenIsDue(t *testing.T) {
	for _, tc := range []struct {
		expires, age float64
		want         bool
	}{{3600, 3569, false}, {3600, 3570, true}, {3600, 9999, true}, {60, 29, false}, {60, 30, true}, {5, 2.4, false}, {5, 2.5, true}, {1, 0.5, true}, {0, 1e9, false}} {
		now := time.Unix(2_000_000_000, 0)
		got := token{expiresIn: int64(tc.expires), received: now.Unix()}.isDue(now.Add(time.Duration(tc.age * float64(time.Second))))
		if got != tc.want {
			t.Errorf("%v s after its arrival, a token for %v s is due: %v", tc.age, tc.expires, got)
		}
	}
	if (token{expiresIn: 1}).isDue(time.Now()) {
		t.Error("a token of an unknown time is due")
	}
}

func TestSeconds(t *testing.T) {
	for text, want := range map[string]int64{
		"3600": 3600, "3600.9": 3600, `"3600"`: 3600, `"36e2"`: 3600, "0.9": 0, "-1": 0, "2147483647": 2147483647, "2147483647.5": 2147483647, "2147483648": 0, "1e999": 0,
		`"1e999"`: 0, `""`: 0, `" 1"`: 0, `"0x10"`: 0, `"NaN"`: 0, `"true"`: 0, "null": 0, "[]": 0, "true": 0, "": 0,
	} {
		if got := seconds(jsonwire.Text(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
