package store_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/domain/modelconfig"
	"github.com/lockstep-dev/lockstep/server/domain/recipe"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/store"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// victim makes the test binary the process that is killed.
const victim = "STORE_TEST_VICTIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(victim); path != "" {
		writeUntilKilled(path)
	}
	os.Exit(leak.Run(m))
}

func open(t testing.TB, path string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func say(role message.Role, created int64, text string) message.Message {
	return message.Message{Role: role, Created: created, Content: []message.Content{message.Text{Text: text}}, Metadata: message.Visible}
}

func create(t testing.TB, s *store.Store, name string) session.Session {
	t.Helper()
	return must[session.Session](t)(s.Create(t.Context(), store.New{WorkingDir: "/w", Name: name, Type: session.User}))
}

func addMessages(t testing.TB, s *store.Store, id string, messages ...message.Message) {
	t.Helper()
	if err := s.AddMessages(t.Context(), id, messages...); err != nil {
		t.Fatal(err)
	}
}

func TestIDsCountTheSessionsOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the date is 2000-01-01 there
		s := open(t, filepath.Join(t.TempDir(), "a b?c#d%.db"))
		var ids []string
		for range 11 {
			ids = append(ids, create(t, s, "").ID)
		}
		if err := s.Delete(t.Context(), ids[10]); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), ids[3]); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, create(t, s, "").ID)
		time.Sleep(24 * time.Hour)
		ids = append(ids, create(t, s, "").ID)
		want := "20000101_1 20000101_2 20000101_3 20000101_4 20000101_5 20000101_6 20000101_7 20000101_8 20000101_9 20000101_10 20000101_11 20000101_11 20000102_1"
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("ids: %s\nwant %s", got, want)
		}
	})
}

func TestConcurrentCreationsNeverGiveEqualIDs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	stores := []*store.Store{open(t, path), open(t, path)} // like two processes
	var (
		mu   sync.Mutex
		seen = map[string]bool{}
		wg   sync.WaitGroup
	)
	for i := range 8 {
		wg.Go(func() {
			for range 25 {
				made, err := stores[i%2].Create(t.Context(), store.New{WorkingDir: "/", Type: session.User})
				if err != nil {
					t.Errorf("Create: %v", err)
					return
				}
				mu.Lock()
				if seen[made.ID] {
					t.Errorf("%s is there twice", made.ID)
				}
				seen[made.ID] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 200 {
		t.Errorf("%d sessions", len(seen))
	}
}

func TestASessionIsReadAsItWasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "s.db")
		s := open(t, path)
		id := must[session.Session](t)(s.Create(t.Context(), store.New{WorkingDir: "/w\x00ü'\"", Name: "n\x00;--", Type: session.Scheduled})).ID
		one, daily := int64(1), "daily"
		want := session.Session{
			ID: id, WorkingDir: "/w\x00ü'\"", Name: "mine", UserSetName: true, Type: session.Scheduled,
			CreatedAt: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), UpdatedAt: time.Date(2000, 1, 1, 0, 0, 5, 0, time.UTC),
			ExtensionData:    []byte(`{"z":1.0,"a":{}}`),
			Tokens:           modelconfig.Tokens{Total: &one, AccumulatedOutput: &one},
			ScheduleID:       &daily,
			Recipe:           &recipe.Recipe{Version: "1.0.0", Title: "t\x00", Description: ""},
			UserRecipeValues: jsonwire.Pairs{{Name: "b", Value: ""}, {Name: "a", Value: "x"}},
			MessageCount:     2,
			ProviderName:     &daily,
			ModelConfig:      &modelconfig.Config{ModelName: "m", Temperature: "0.50"},
		}
		if first := must[session.Session](t)(s.Session(t.Context(), id)); first.Name != "n\x00;--" || first.UserSetName || string(first.ExtensionData) != "{}" || first.Conversation != nil {
			t.Errorf("a new session: %+v", first)
		}
		time.Sleep(5*time.Second + 700*time.Millisecond)
		changes := append(store.SetName("mine", true), store.SetExtensionData(want.ExtensionData), store.SetSchedule(&daily), store.SetRecipe(want.Recipe), store.SetUserRecipeValues(want.UserRecipeValues))
		changes = append(append(changes, store.SetTokens(want.Tokens)...), store.SetModel("daily", *want.ModelConfig)...)
		if found, err := s.Update(t.Context(), id, changes...); err != nil || !found {
			t.Fatalf("Update: %t, %v", found, err)
		}
		messages := []message.Message{say(message.User, 5, "a\x00<"), say(message.Assistant, 5, "e\u0301\U000E0041")} // texts of models are not normalised
		messages[1].Metadata.UserVisible = false
		addMessages(t, s, id, messages...)
		again := open(t, path) // as after a restart
		if diff := cmp.Diff(want, must[session.Session](t)(again.Session(t.Context(), id))); diff != "" {
			t.Errorf("Session (-want +got):\n%s", diff)
		}
		want.Conversation = messages
		want.Conversation[0].ID, want.Conversation[1].ID = "msg_"+id+"_0", "msg_"+id+"_1"
		if diff := cmp.Diff(want, must[session.Session](t)(again.Load(t.Context(), id))); diff != "" {
			t.Errorf("Load (-want +got):\n%s", diff)
		}
	})
}

func TestMessagesAreInTheOrderOfTheirInsertion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, filepath.Join(t.TempDir(), "s.db"))
		id := create(t, s, "").ID
		texts := func() (texts string) {
			for _, m := range must[session.Session](t)(s.Load(t.Context(), id)).Conversation {
				text, _ := m.PlainText()
				texts += text
			}
			return texts
		}
		for i, text := range []string{"a", "b", "c"} {
			addMessages(t, s, id, say(message.User, int64(100-i), text))
			time.Sleep(time.Second)
		}
		updated := must[session.Session](t)(s.Session(t.Context(), id)).UpdatedAt
		if got := updated.Second(); got != 2 {
			t.Errorf("updated_at is that of second %d, want of the last message", got)
		}
		if got := texts(); got != "abc" {
			t.Errorf("conversation: %s", got)
		}
		if err := s.Truncate(t.Context(), id, 100); err != nil {
			t.Fatal(err)
		}
		if got := texts(); got != "bc" {
			t.Errorf("without the second 100 and later: %s", got)
		}
		read := must[session.Conversation](t)(s.Conversation(t.Context(), id))
		if err := s.Compact(t.Context(), id, read, make([]message.Metadata, 2), []message.Message{say(message.User, 1, "x")}); err != nil {
			t.Fatal(err)
		}
		if got := texts(); got != "bcx" {
			t.Errorf("compacted: %s", got)
		}
		if got := must[session.Session](t)(s.Session(t.Context(), id)).UpdatedAt; !got.Equal(updated) {
			t.Errorf("cutting off and compacting moved updated_at to %s", got)
		}
	})
}

func TestListHasTheSessionsOfPeopleThatHaveMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, filepath.Join(t.TempDir(), "s.db"))
		var ids []string
		for _, kind := range []session.Type{session.User, session.Scheduled, session.SubAgent, session.Hidden, session.Terminal, session.User} {
			ids = append(ids, must[session.Session](t)(s.Create(t.Context(), store.New{Type: kind})).ID)
		}
		for _, id := range ids[:5] {
			addMessages(t, s, id, say(message.User, 1, ""))
		}
		list := func() (listed []string) {
			for _, found := range must[[]session.Session](t)(s.List(t.Context())) {
				if found.MessageCount != 1 || found.Conversation != nil {
					t.Errorf("%s has %d messages, and %v", found.ID, found.MessageCount, found.Conversation)
				}
				listed = append(listed, found.ID)
			}
			return listed
		}
		if diff := cmp.Diff([]string{ids[1], ids[0]}, list()); diff != "" {
			t.Errorf("of the same second (-want +got):\n%s", diff)
		}
		time.Sleep(time.Second)
		if _, err := s.Update(t.Context(), ids[0]); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{ids[0], ids[1]}, list()); diff != "" {
			t.Errorf("after a change (-want +got):\n%s", diff)
		}
	})
}

func TestTokensAreReplacedAndAdded(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	id := create(t, s, "").ID
	n := func(n int64) *int64 { return &n }
	for _, tc := range []struct {
		total, input, output *int64
		want                 modelconfig.Tokens
	}{
		{n(10), n(7), n(3), modelconfig.Tokens{Total: n(10), Input: n(7), Output: n(3), AccumulatedTotal: n(10), AccumulatedInput: n(7), AccumulatedOutput: n(3)}},
		{n(5), nil, n(1), modelconfig.Tokens{Total: n(5), Output: n(1), AccumulatedTotal: n(15), AccumulatedInput: n(7), AccumulatedOutput: n(4)}},
		{nil, nil, nil, modelconfig.Tokens{AccumulatedTotal: n(15), AccumulatedInput: n(7), AccumulatedOutput: n(4)}},
		{nil, n(math.MaxInt32 - 7), nil, modelconfig.Tokens{Input: n(math.MaxInt32 - 7), AccumulatedTotal: n(15), AccumulatedInput: n(math.MaxInt32), AccumulatedOutput: n(4)}},
		{nil, n(1), nil, modelconfig.Tokens{Input: n(1), AccumulatedTotal: n(15), AccumulatedInput: n(math.MaxInt32), AccumulatedOutput: n(4)}},
	} {
		if err := s.AddUsage(t.Context(), id, tc.total, tc.input, tc.output); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, must[session.Session](t)(s.Session(t.Context(), id)).Tokens); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	create(t, s, "")
	other := create(t, s, "").ID
	if _, err := s.Update(t.Context(), other, store.SetTokens(modelconfig.Tokens{Total: n(100)})...); err != nil {
		t.Fatal(err)
	}
	if sessions, tokens, err := s.Insights(t.Context()); sessions != 3 || tokens != 115 || err != nil {
		t.Errorf("Insights: %d sessions, %d tokens, %v; want 3 and 115", sessions, tokens, err)
	}
}

func TestCopies(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	id := create(t, s, "original").ID
	one, daily := int64(1), "daily"
	changes := append(store.SetName("mine", true), store.SetExtensionData([]byte(`{"todo.v0":1}`)), store.SetSchedule(&daily),
		store.SetRecipe(&recipe.Recipe{Title: "t"}), store.SetUserRecipeValues(jsonwire.Pairs{{Name: "a", Value: "b"}}))
	changes = append(append(changes, store.SetTokens(modelconfig.Tokens{Total: &one, AccumulatedTotal: &one})...), store.SetModel("p", modelconfig.Config{ModelName: "m"})...)
	if _, err := s.Update(t.Context(), id, changes...); err != nil {
		t.Fatal(err)
	}
	addMessages(t, s, id, say(message.User, 1, "a"), say(message.Assistant, 2, "b"), say(message.User, 3, "c"))
	original := must[session.Session](t)(s.Load(t.Context(), id))

	imported := must[session.Session](t)(s.Import(t.Context(), original))
	want := original
	want.ID, want.ProviderName, want.ModelConfig = imported.ID, nil, nil
	want.CreatedAt, want.UpdatedAt = imported.CreatedAt, imported.UpdatedAt
	want.Conversation = append([]message.Message(nil), original.Conversation...)
	for i := range want.Conversation {
		want.Conversation[i].ID = fmt.Sprintf("msg_%s_%d", imported.ID, i)
	}
	if diff := cmp.Diff(want, imported); diff != "" || imported.ID == id {
		t.Errorf("Import (-want +got):\n%s", diff)
	}

	fork := must[session.Session](t)(s.Load(t.Context(), must[string](t)(s.Fork(t.Context(), id, 2))))
	want.ID, want.Name, want.UserSetName, want.Tokens, want.MessageCount = fork.ID, "(edited)", false, modelconfig.Tokens{}, 1
	want.CreatedAt, want.UpdatedAt = fork.CreatedAt, fork.UpdatedAt
	want.Conversation = want.Conversation[:1]
	want.Conversation[0].ID = "msg_" + fork.ID + "_0"
	if diff := cmp.Diff(want, fork); diff != "" {
		t.Errorf("Fork (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(original, must[session.Session](t)(s.Load(t.Context(), id))); diff != "" {
		t.Errorf("the original has changed (-want +got):\n%s", diff)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	for name, err := range map[string]error{
		"Session": func() error { _, err := s.Session(t.Context(), "x' OR 1=1"); return err }(),
		"Load":    func() error { _, err := s.Load(t.Context(), ""); return err }(),
		"Delete":  s.Delete(t.Context(), "%"),
		"Fork":    func() error { _, err := s.Fork(t.Context(), "x", 1); return err }(),
		"Tokens":  func() error { _, err := s.Tokens(t.Context(), "x"); return err }(),

		"AddMessages":  s.AddMessages(t.Context(), "x", say(message.User, 1, "a")),
		"Conversation": func() error { _, err := s.Conversation(t.Context(), "x"); return err }(),
		"Compact":      s.Compact(t.Context(), "x", session.Conversation{}, nil, []message.Message{say(message.User, 1, "a")}),
	} {
		if !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%s of no session: %v, want session.ErrNotFound", name, err)
		}
	}
	if found, err := s.Update(t.Context(), "x", store.SetName("n", true)...); found || err != nil {
		t.Errorf("Update of no session: %t, %v", found, err)
	}
	if err := s.Truncate(t.Context(), "x", 0); err != nil {
		t.Errorf("Truncate of no session: %v", err)
	}
	if sessions, _, err := s.Insights(t.Context()); sessions != 0 || err != nil {
		t.Errorf("Insights: %d, %v", sessions, err)
	}
}

// execute runs statements directly on a database.
func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestUnreadableRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	id := create(t, s, "").ID
	addMessages(t, s, id, say(message.User, 1, "a"))
	execute(t, path, `UPDATE sessions SET recipe_json = '{"title":1}', user_recipe_values_json = '{', model_config_json = '[]', extension_data = 'x',
		session_type = 'odd', description = 'old', created_at = 'never', updated_at = '2025-12-10T16:59:31.5+01:00'`, `UPDATE messages SET metadata_json = '{}'`)
	found := must[session.Session](t)(s.Load(t.Context(), id))
	if found.Recipe != nil || found.UserRecipeValues != nil || found.ModelConfig != nil || string(found.ExtensionData) != "{}" || found.Type != session.User || found.Name != "old" {
		t.Errorf("unreadable columns: %+v", found)
	}
	if !found.CreatedAt.Equal(time.Unix(0, 0)) || !found.UpdatedAt.Equal(time.Date(2025, 12, 10, 15, 59, 31, 5e8, time.UTC)) {
		t.Errorf("times: %s, %s", found.CreatedAt, found.UpdatedAt)
	}
	if found.Conversation[0].Metadata != message.Visible {
		t.Errorf("metadata: %+v", found.Conversation[0].Metadata)
	}
	for _, bad := range []string{`role = 'system'`, `content_json = '{'`, `content_json = '[{"type":"nope"}]'`, `created_timestamp = 'x'`} {
		execute(t, path, `UPDATE messages SET role = 'user', content_json = '[]', created_timestamp = 1`, `UPDATE messages SET `+bad)
		if _, err := s.Load(t.Context(), id); err == nil || errors.Is(err, session.ErrNotFound) {
			t.Errorf("Load with %s: %v, want an error of its own", bad, err)
		}
		if _, err := s.Session(t.Context(), id); err != nil {
			t.Errorf("Session with %s: %v", bad, err)
		}
	}
}

func TestOldDatabasesAreBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	execute(t, path,
		`CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)`,
		`INSERT INTO schema_version (version) VALUES (1)`,
		`CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
			updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, extension_data TEXT DEFAULT '{}', total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER,
			accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, schedule_id TEXT, recipe_json TEXT)`,
		`CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content_json TEXT NOT NULL,
			created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER)`,
		`INSERT INTO sessions (id, description, working_dir, created_at) VALUES ('20250101_7', 'old name', '/w', '2025-01-01 10:00:00')`,
		`INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('20250101_7', 'user', '[{"type":"text","text":"hi"}]', 5)`)
	var wg sync.WaitGroup
	for range 4 { // the first one migrates
		wg.Go(func() {
			s, err := store.Open(t.Context(), path)
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			s.Close()
		})
	}
	wg.Wait()
	found := must[session.Session](t)(open(t, path).Load(t.Context(), "20250101_7"))
	if found.Name != "old name" || found.Type != session.User || found.UserSetName || len(found.Conversation) != 1 || found.Conversation[0].Metadata != message.Visible {
		t.Errorf("an old session: %+v", found)
	}
	if got := found.CreatedAt; !got.Equal(time.Date(2025, 1, 1, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("created %s", got)
	}
}

func TestOpenReportsWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "no", "such.db"), dir} {
		s, err := store.Open(t.Context(), path)
		if err == nil {
			s.Close()
			t.Errorf("Open(%s) succeeded", path)
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("Open: %v, which does not name %s", err, path)
		}
	}
}

// writeUntilKilled tells its parent what the store has acknowledged.
func writeUntilKilled(path string) {
	ctx := context.Background()
	s, err := store.Open(ctx, path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for i := int64(1); ; i++ {
		made, err := s.Create(ctx, store.New{WorkingDir: "/", Type: session.User})
		if err == nil {
			err = s.AddMessages(ctx, made.ID, say(message.User, i, made.ID), say(message.Assistant, i, "yes"))
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(made.ID)
	}
}

func TestWhatIsAcknowledgedSurvivesAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), victim+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		acknowledged = append(acknowledged, lines.Text())
		if len(acknowledged) == 200 {
			cmd.Process.Kill() // SIGKILL; what was written before is still in the pipe
		}
	}
	cmd.Wait()
	if len(acknowledged) < 200 {
		t.Fatalf("the process said only %q", acknowledged)
	}
	s := open(t, path)
	for _, id := range acknowledged {
		found, err := s.Load(t.Context(), id)
		if err != nil || len(found.Conversation) != 2 {
			t.Fatalf("%s was acknowledged: %v, %d messages", id, err, len(found.Conversation))
		}
	}
	for _, found := range must[[]session.Session](t)(s.List(t.Context())) {
		if found.MessageCount != 2 {
			t.Errorf("%s has %d messages of a transaction of 2", found.ID, found.MessageCount)
		}
	}
}

func BenchmarkAddMessage(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "s.db"))
	id := create(b, s, "").ID
	for b.Loop() {
		if err := s.AddMessages(b.Context(), id, say(message.User, 1, "hello")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "s.db"))
	id := create(b, s, "").ID
	messages := make([]message.Message, 100)
	for i := range messages {
		messages[i] = say(message.User, 1, strings.Repeat("a line of text\n", 20))
	}
	if err := s.AddMessages(b.Context(), id, messages...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Load(b.Context(), id); err != nil {
			b.Fatal(err)
		}
	}
}
