//go:build unix

package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// A ledger is what a server has acknowledged.
type ledger struct {
	mu                          sync.Mutex
	stories                     []*story // in no order that means anything
	replies, renamings, imports atomic.Int64
}

func (l *ledger) add(s *story) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stories = append(l.stories, s)
}

// sample returns some of the stories, each once. Nobody may be at work.
func (l *ledger) sample(rng *rand.Rand, n int) []*story {
	out := make([]*story, 0, n)
	for _, i := range rng.Perm(len(l.stories))[:min(n, len(l.stories))] {
		out = append(out, l.stories[i])
	}
	return out
}

func (l *ledger) messages() (n int) {
	for _, s := range l.stories {
		n += len(s.said)
	}
	return n
}

// A story is what is known of a session.
type story struct {
	id, name string
	named    bool     // by the user
	tried    string   // a name that was sent and not acknowledged
	said     []string // messages that are known to be saved
	perhaps  []string // messages of a reply that did not finish: any number of them, from the first
}

// A keeping is what a server has of a session.
type keeping struct {
	Name         string
	Conversation []struct{ Content []json.RawMessage }
}

// lost says what is not as it was acknowledged; k is nil when there is no such session. What is there, and could be, is
// known from then on.
func (s *story) lost(k *keeping) (problems []string) {
	if k == nil {
		return []string{fmt.Sprintf("session %s is lost", s.id)}
	}
	if k.Name != s.name && (s.tried == "" || k.Name != s.tried) {
		problems = append(problems, fmt.Sprintf("session %s is called %q, want %q", s.id, k.Name, s.name))
	}
	found := k.said()
	might := append(slices.Clone(s.said), s.perhaps...)
	if len(found) < len(s.said) || len(found) > len(might) || !slices.Equal(found, might[:len(found)]) {
		problems = append(problems, fmt.Sprintf("session %s has the messages %q, want %q, and then perhaps %q", s.id, found, s.said, s.perhaps))
	}
	if len(problems) == 0 {
		s.name, s.tried, s.said, s.perhaps = k.Name, "", found, nil
	}
	return problems
}

// said tells the messages: a text as it is, of everything else its type and id.
func (k *keeping) said() []string {
	out := []string{}
	for _, m := range k.Conversation {
		told := ""
		for _, content := range m.Content {
			var c struct{ Type, Text, ID string }
			if err := json.Unmarshal(content, &c); err != nil {
				return append(out, err.Error())
			}
			if c.Type == "text" {
				told += c.Text
			} else {
				told += c.Type + " " + c.ID
			}
		}
		out = append(out, told)
	}
	return out
}

// lost says what of some stories the server does not have as it has acknowledged it.
func (s *served) lost(t *testing.T, stories []*story) (problems []string) {
	t.Helper()
	api := s.api()
	defer api.close()
	for _, story := range stories {
		var k *keeping
		answer, err := api.do("GET", "/sessions/"+story.id, nil)
		if no := (*refused)(nil); errors.As(err, &no) && no.status == 404 {
			err = nil
		} else if err == nil {
			err = json.Unmarshal(answer, &k)
		}
		if err != nil {
			t.Fatal(err)
		}
		problems = append(problems, story.lost(k)...)
	}
	return problems
}

// database opens the database of a server, beside it.
func database(t *testing.T, home string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "data", "sessions", "sessions.db")+"?mode=rw&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// broken says what SQLite finds wrong with the database of a server.
func broken(t *testing.T, home string) (problems []string) {
	t.Helper()
	db := database(t, home)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "PRAGMA integrity_check")
	if err != nil {
		return []string{err.Error()}
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		if line != "ok" {
			problems = append(problems, "integrity_check: "+line)
		}
	}
	if err := rows.Err(); err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}
