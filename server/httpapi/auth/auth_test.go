package auth_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/httpapi/auth"
	"github.com/lockstep-dev/lockstep/server/httpapi/urlpath"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestOnlyTheSecretOpens(t *testing.T) {
	key := auth.NewKey("s3cret")
	for _, tc := range []struct {
		path  urlpath.Path
		given []string
		want  bool
	}{
		{urlpath.Path{"sessions"}, []string{"s3cret"}, true},
		{urlpath.Path{"sessions"}, nil, false},
		{urlpath.Path{"sessions"}, []string{""}, false},
		{urlpath.Path{"sessions"}, []string{"S3cret"}, false},
		{urlpath.Path{"sessions"}, []string{"s3cret "}, false},
		{urlpath.Path{"sessions"}, []string{"s3cre"}, false},
		{urlpath.Path{"sessions"}, []string{"s3cret", "s3cret"}, false},
		{urlpath.Path{"sessions"}, []string{"s3cr\u00e9t"}, false},
		{urlpath.Path{"status"}, nil, true},
		{urlpath.Path{"status"}, []string{"wrong"}, true},
		{urlpath.Path{"mcp-ui-proxy"}, nil, true},
		{urlpath.Path{"status", ""}, nil, false},
		{urlpath.Path{"Status"}, nil, false},
		{urlpath.Path{"mcp-ui-proxy", "x"}, nil, false},
		{nil, nil, false},
	} {
		if got := key.Allows(tc.path, http.Header{"X-Secret-Key": tc.given}); got != tc.want {
			t.Errorf("Allows(%q, %q) = %t, want %t", tc.path, tc.given, got, tc.want)
		}
	}
}

func TestASecretThatNoHeaderCanHoldNeverOpens(t *testing.T) {
	key := auth.NewKey("gehe\u00efm")
	if key.Allows(urlpath.Path{"sessions"}, http.Header{"X-Secret-Key": {"gehe\u00efm"}}) {
		t.Error("a secret that is not ASCII was accepted")
	}
}
