package server_test

import (
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// broken makes a server's database unreadable.
func broken(t *testing.T, d settings.Directories) {
	t.Helper()
	db, err := sql.Open("sqlite", d.Sessions())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{`ALTER TABLE messages RENAME TO m`, `ALTER TABLE sessions RENAME TO s`} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// TestErrorsOfTheDatabaseAreNotSentToClients checks that clients learn what failed, but not the error of the database
// or the system.
func TestErrorsOfTheDatabaseAreNotSentToClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r, id := startModel(t, server.Config{Directories: d}, hello)
		broken(t, d)
		for _, tc := range []struct {
			request, body string
			status        int
			want          string
		}{
			{"GET /sessions", "", 500, ""},
			{"GET /sessions/" + id, "", 404, ""},
			{"GET /sessions/insights", "", 500, ""},
			{"GET /sessions/" + id + "/export", "", 404, ""},
			{"DELETE /sessions/" + id, "", 500, ""},
			{"PUT /sessions/" + id + "/name", `{"name":"n"}`, 500, ""},
			{"POST /sessions/" + id + "/edit_message", `{"timestamp":1}`, 500, ""},
			{"PUT /sessions/" + id + "/user_recipe_values", `{"userRecipeValues":{}}`, 500, `{"message":"Values cannot be stored"}`},
			{"GET /diagnostics/" + id, "", 500, ""},
			{"POST /agent/start", `{"working_dir":"/w"}`, 400, `{"message":"Failed to create session: Session cannot be written"}`},
			{"POST /agent/resume", `{"session_id":"` + id + `","load_model_and_extensions":true}`, 404, `{"message":"Failed to resume session: Session cannot be read"}`},
			{"POST /agent/update_from_session", `{"session_id":"` + id + `"}`, 500, `{"message":"Failed to get session: Session cannot be read"}`},
			{"POST /agent/update_provider", `{"session_id":"` + id + `","provider":"openai","model":"m"}`, 500, "Failed to update provider: Session cannot be written"},
			{"POST /reply", ask(id, "hi"), 200, "data: " + `{"type":"Error","error":"Failed to read session: Session cannot be read"}` + "\n\n"},
		} {
			r.post(tc.request, tc.body).is(t, tc.request, tc.status, tc.want)
		}
	})
}

func TestASessionThatIsDeletedDuringItsReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		var id string
		asked := 0
		deleted := make(chan bool)
		r, id = startModel(t, server.Config{}, func(w http.ResponseWriter, a llmtest.Asked) {
			if asked++; asked == 2 {
				r.get("DELETE /sessions/"+id).is(t, "delete", 200, "")
				close(deleted)
			}
			hello(w, a)
		})
		r.post("POST /reply", ask(id, "hi"))
		stream := strings.ReplaceAll(r.post("POST /reply", ask(id, "more")).body, "data: {\"type\":\"Ping\"}\n\n", "")
		events := strings.Split(strings.TrimSuffix(stream, "\n\n"), "\n\n")
		if len(events) != 1 || strings.Contains(stream, `"Error"`) || events[0] != `data: {"type":"Finish","reason":"stop","token_state":`+
			`{"inputTokens":10,"outputTokens":5,"totalTokens":15,"accumulatedInputTokens":10,"accumulatedOutputTokens":5,"accumulatedTotalTokens":15}}` {
			t.Errorf("the stream is\n%s", stream)
		}
		<-deleted
		r.get("GET /sessions/"+id).is(t, "the session", 404, "")
	})
}

func TestErrorsOfTheSystemAreNotSentToClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		directory := filepath.Join(d.Config, "dir")
		if err := os.Mkdir(directory, 0o700); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			directory:        "parameter p: " + directory + " is no plain file",
			directory + "/x": "parameter p: there is no file " + directory + "/x",
		} {
			id := field(t, r.post("POST /agent/start", `{"working_dir":"/w","recipe":{"title":"t","description":"d","prompt":"{{ p }}",`+
				`"parameters":[{"key":"p","input_type":"file","requirement":"required","description":""}]}}`).body, "id")
			r.post("PUT /sessions/"+id+"/user_recipe_values", `{"userRecipeValues":{"p":"`+path+`"}}`).is(t, path, 500, `{"message":"`+want+`"}`)
			r.post("POST /agent/update_from_session", `{"session_id":"`+id+`"}`).is(t, path, 500, `{"message":"`+want+`"}`)
		}
	})
}
