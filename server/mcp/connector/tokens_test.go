package connector

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-dev/lockstep/server/mcp/client"
)

// tokens are the tokens of a connection, for tests.
type tokens struct {
	mu      sync.Mutex
	current string
	isDue   bool
	next    []string // after each renewal; none left means that it fails
	asked   []string // the renewals
}

func (k *tokens) Current() (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current, k.isDue
}

func (k *tokens) Renew(_ context.Context, old string, rejected bool) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	why := "due "
	if rejected {
		why = "rejected "
	}
	k.asked = append(k.asked, why+old)
	if len(k.next) == 0 {
		return "", false
	}
	k.current, k.next, k.isDue = k.next[0], k.next[1:], false
	return k.current, true
}

// renewals returns the renewals so far.
func (k *tokens) renewals() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.asked)
}

// A guarded is a site that accepts some tokens.
type guarded struct {
	*site
	mu       sync.Mutex
	accepted []string
	seen     []string // the method and the token of each request that reached it
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.seen = append(g.seen, r.Method+" "+r.Header.Get("Authorization"))
	ok := slices.Contains(g.accepted, r.Header.Get("Authorization"))
	g.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	g.site.ServeHTTP(w, r)
}

func (g *guarded) accept(all ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.accepted = all
}

func (g *guarded) requests(method string) (tokens []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, request := range g.seen {
		if m, token, _ := strings.Cut(request, " "); m == method {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// connect connects to the site with tokens.
func (g *guarded) connect(t *testing.T, k *tokens) (*client.Client, *client.HTTP) {
	t.Helper()
	g.site = &site{}
	host := httptest.NewServer(g)
	t.Cleanup(host.Close)
	uri, err := url.Parse(host.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := client.NewHTTP(true, host.URL, uri, http.Header{"Authorization": {"Basic mine"}}, maxInTests)
	transport.Authorize(k)
	x, err := client.Connect(t.Context(), transport, client.Options{Timeout: patience, MaxMessage: maxInTests})
	if err != nil {
		t.Fatal(err)
	}
	return x, transport
}

func call(t *testing.T, x *client.Client) string {
	return written(x.Call(t.Context(), "x", quiet("x", `{}`)))
}

const notSignedIn = "error -32603: Not signed in"

// TestAStreamThatIsRejectedTwice checks decision X58: it counts as one that the server lacks, and the connection stays.
func TestAStreamThatIsRejectedTwice(t *testing.T) {
	g, k := &guarded{accepted: []string{"Bearer one"}}, &tokens{current: "one", next: []string{"two"}}
	x, transport := g.connect(t, k)
	defer x.Close()
	g.accept()
	listened := make(chan error, 1)
	x.Listen(func(ctx context.Context, hear func([]byte) error) error {
		err := transport.Listen(ctx, hear)
		listened <- err
		return err
	})
	if err := <-listened; err != nil {
		t.Errorf("listening ended with %v", err)
	}
	if got := g.requests("GET"); !slices.Equal(got, []string{"Bearer one", "Bearer two"}) || !slices.Equal(k.renewals(), []string{"rejected one"}) {
		t.Errorf("streams were opened with %q, after the renewals %q", got, k.renewals())
	}
	g.accept("Bearer two")
	if got := call(t, x); got != wasDone {
		t.Errorf("a call: %s", got)
	}
}

// TestARequestHasOneRenewal checks decision X57.
func TestARequestHasOneRenewal(t *testing.T) {
	for name, tc := range map[string]struct {
		tokens   *tokens
		accepted string
		want     string
		sent     []string
		renewals []string
	}{
		"valid":              {&tokens{}, "Bearer one", wasDone, []string{"Bearer one"}, nil},
		"rejected":           {&tokens{next: []string{"two"}}, "Bearer two", wasDone, []string{"Bearer one", "Bearer two"}, []string{"rejected one"}},
		"rejected twice":     {&tokens{next: []string{"two", "three"}}, "Bearer three", notSignedIn, []string{"Bearer one", "Bearer two"}, []string{"rejected one"}},
		"rejected for good":  {&tokens{}, "", notSignedIn, []string{"Bearer one"}, []string{"rejected one"}},
		"due":                {&tokens{isDue: true, next: []string{"two"}}, "Bearer two", wasDone, []string{"Bearer two"}, []string{"due one"}},
		"due, not renewed":   {&tokens{isDue: true}, "Bearer one", wasDone, []string{"Bearer one"}, []string{"due one"}},
		"due, then rejected": {&tokens{isDue: true, next: []string{"two", "three"}}, "Bearer three", notSignedIn, []string{"Bearer two"}, []string{"due one"}},
	} {
		t.Run(name, func(t *testing.T) {
			g, k := &guarded{accepted: []string{"Bearer one"}}, &tokens{current: "one"}
			x, _ := g.connect(t, k)
			before := len(g.requests("POST"))
			g.accept(tc.accepted)
			k.mu.Lock()
			k.isDue, k.next = tc.tokens.isDue, tc.tokens.next
			k.mu.Unlock()
			if got := call(t, x); got != tc.want {
				t.Errorf("the call: %s, want %s", got, tc.want)
			}
			if sent := g.requests("POST")[before:]; !slices.Equal(sent, tc.sent) || !slices.Equal(k.renewals(), tc.renewals) {
				t.Errorf("sent with %q after the renewals %q, want %q and %q", sent, k.renewals(), tc.sent, tc.renewals)
			}
			// The connection stays, and its end causes no renewal.
			g.accept("Bearer " + k.current)
			if got := call(t, x); got != wasDone {
				t.Errorf("a later call: %s", got)
			}
			g.accept()
			renewals := len(k.renewals())
			x.Close()
			if ends := g.requests("DELETE"); len(ends) != 1 || ends[0] != "Bearer "+k.current || len(k.renewals()) != renewals {
				t.Errorf("ended with %q, %d renewals", ends, len(k.renewals())-renewals)
			}
		})
	}
}
