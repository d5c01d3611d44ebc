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

// A ledger records what a server has acknowledged.
type ledger struct {
	mu                          sync.Mutex
	stories                     []*story // in any order
	replies, renamings, imports atomic.Int64
}

func (l *ledger) add(s *story) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stories = append(l.stories, s)
}

// sample returns n distinct stories at random. No client may be running.
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

// A story records what the test knows about a session.
type story struct {
	id, name string
	named    bool     // by the user
	tried    string   // a name that was sent and not acknowledged
	said     []string // messages that are known to be saved
	perhaps  []string // messages of a reply that did not finish: the first few of them may be saved
}

// A keeping is a session as the server returns it.
type keeping struct {
	Name         string
	Conversation []struct{ Content []json.RawMessage }
}

// lost returns where the session differs from what was acknowledged; k is nil if there is no such session. What was
// uncertain and is saved becomes known.
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

// said lists the contents of the messages: texts as they are, other contents by type and ID.
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

// lost returns where the server's sessions differ from what it acknowledged.
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

// database opens the database of a server from outside.
func database(t *testing.T, home string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "data", "sessions", "sessions.db")+"?mode=rw&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// broken returns what SQLite finds wrong with the database of a server.
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
