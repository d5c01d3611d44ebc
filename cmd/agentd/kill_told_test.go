//go:build unix

package main

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestLostDataOfASessionIsReported(t *testing.T) {
	const kept = `{"name":"N","conversation":[{"content":[{"type":"text","text":"one"}]},{"content":[{"type":"toolRequest","id":"two"}]}]}`
	for _, tc := range []struct {
		name  string
		story story
		found string // "" for no session
		want  string // the problem that is reported; "" for none
	}{
		{"all there", story{name: "N", said: []string{"one", "toolRequest two"}}, kept, ""},
		{"no session", story{id: "7"}, "", "session 7 is lost"},
		{"another name", story{id: "7", name: "M", said: []string{"one", "toolRequest two"}}, kept, `session 7 is called "N", want "M"`},
		{"a name that may be", story{name: "M", tried: "N", said: []string{"one", "toolRequest two"}}, kept, ""},
		{"a name that is gone", story{id: "7", name: "", tried: "M"}, `{"name":"N"}`, `session 7 is called "N"`},
		{"a message less", story{id: "7", name: "N", said: []string{"one", "toolRequest two", "three"}}, kept, "session 7 has the messages"},
		{"another order", story{id: "7", name: "N", said: []string{"toolRequest two", "one"}}, kept, "session 7 has the messages"},
		{"a message more", story{id: "7", name: "N", said: []string{"one"}}, kept, "session 7 has the messages"},
		{"a message that may be", story{name: "N", said: []string{"one"}, perhaps: []string{"toolRequest two", "three"}}, kept, ""},
		{"a hole in what may be", story{id: "7", name: "N", said: []string{"one"}, perhaps: []string{"three", "toolRequest two"}}, kept, "session 7 has the messages"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var k *keeping
			if tc.found != "" {
				if err := json.Unmarshal([]byte(tc.found), &k); err != nil {
					t.Fatal(err)
				}
			}
			got := strings.Join(tc.story.lost(k), "\n")
			if got != tc.want && (tc.want == "" || !strings.HasPrefix(got, tc.want)) {
				t.Errorf("told %q, want %q", got, tc.want)
			}
		})
	}
}

// TestDataRemovedFromAServerIsMissed checks the checks: they notice data that is deleted from the database, and
// damage to it.
func TestDataRemovedFromAServerIsMissed(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(scripted))
	defer model.Close()
	home, all := t.TempDir(), &ledger{}
	s, _ := startServer(t, home, model.URL)
	c := &client{api: s.api(), all: all, rng: rand.New(rand.NewPCG(1, 2))}
	defer c.api.close()
	for _, act := range []func() error{
		c.importOne, c.create, c.create,
		func() error { return c.rename(c.mine[2]) },
		func() error { return c.reply(c.mine[2]) },
		func() error { return c.reply(c.mine[0]) },
	} {
		if err := act(); err != nil {
			t.Fatal(err)
		}
	}
	if problems := append(s.lost(t, all.stories), broken(t, home)...); len(problems) > 0 {
		t.Fatalf("with nothing taken: %q", problems)
	}
	db := database(t, home)
	defer db.Close()
	for _, tc := range []struct{ change, want string }{
		{"UPDATE sessions SET name = 'x' WHERE id LIKE '%_3'", `_3 is called "x", want "named `},
		{"DELETE FROM messages WHERE id = (SELECT max(id) FROM messages WHERE session_id LIKE '%_1')", "_1 has the messages"},
		{"DELETE FROM sessions WHERE id LIKE '%_2'", "_2 is lost"},
	} {
		before := s.lost(t, all.stories)
		if _, err := db.ExecContext(t.Context(), tc.change); err != nil {
			t.Fatal(err)
		}
		after := s.lost(t, all.stories)
		if told := strings.Join(after, "\n"); len(after) != len(before)+1 || !strings.Contains(told, tc.want) {
			t.Errorf("after %s: %s, want one problem more: %s", tc.change, told, tc.want)
		}
	}
	for _, damage := range []string{"PRAGMA writable_schema = ON", "DELETE FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"} {
		if _, err := db.ExecContext(t.Context(), damage); err != nil {
			t.Fatal(err)
		}
	}
	if len(broken(t, home)) == 0 {
		t.Error("pages that belong to nothing are not told")
	}
}
