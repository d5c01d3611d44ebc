package turn_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/server/llm"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

func TestAPlainTextIsAnsweredPieceByPiece(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, says(llmtest.Says("c1", "Hel", "", "lo")))
		same(t, "events", []string{"a c1 Hel 0", "a c1  0", "a c1 lo 0", "Finish stop 15/15"}, r.reply(user("old"), user("hi")))
		same(t, "saved", []string{"u hi", "a Hello"}, r.saved())
		if created := r.store.messages()[0].Created; created != 7 {
			t.Errorf("the user's message is of %d, want 7, as was sent", created)
		}
		synctest.Wait()
		if got := r.store.name(); got != "A name" {
			t.Errorf("the session is called %q", got)
		}
	})
}

func TestWhatTheModelIsAsked(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, says(llmtest.Says("c1", "Hello")))
		r.agent.InDesktop()
		r.agent.InDesktop()
		r.reply(user("hi"))
		r.reply(user("more"))
		note := `<context>\nDate and time: ` + time.Now().Format(time.RFC3339) + `\nWorking directory: /w\n</context>`
		head := `{"model":"gpt-4o","messages":[{"role":"system","content":"You are goose, an AI agent. You help people with their work, and you act through the tools that you are given.` +
			`\n\nThe person talks to you in a desktop application."},`
		asked := r.asked()
		for i, want := range []string{
			head + `{"role":"user","content":"` + note + `\nhi"}],`,
			head + `{"role":"user","content":"hi\n` + note + `"},{"role":"assistant","content":"Hello"},{"role":"user","content":"more"}],`,
		} {
			if !strings.HasPrefix(asked[i], want) {
				t.Errorf("request %d:\n got %.700s\nwant %s", i, asked[i], want)
			}
		}
		for _, tool := range []string{"dynamic_task__create_task", "platform__manage_schedule", "subagent__execute_task"} {
			if !strings.Contains(asked[0], `"name":"`+tool+`"`) {
				t.Errorf("the model is not offered %s", tool)
			}
		}
	})
}

func TestEarlyErrors(t *testing.T) {
	for _, tc := range []struct {
		name  string
		set   func(r *rig)
		send  []string
		want  []string
		saved []string
	}{
		{"no such session", func(r *rig) { r.store.session.ID = "other" }, nil, []string{"Error Failed to read session: Session not found"}, []string{}},
		{"a store that fails", func(r *rig) { r.store.failures = map[string]error{"Session": errors.New("disk full")} }, nil,
			[]string{"Error Failed to read session: Session cannot be read"}, []string{}},
		{"no messages", func(*rig) {}, nil, []string{"Error Reply started with empty messages"}, []string{}},
		{"no provider", func(r *rig) { r.agent.SetModels(llm.Models{}) }, []string{user("hi")}, []string{"Error Provider not set"}, []string{"u hi"}},
		{"a message that cannot be saved", func(r *rig) { r.store.failures = map[string]error{"AddMessages": errors.New("disk full")} }, []string{user("hi")},
			[]string{"Error Session cannot be written"}, []string{"u hi"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r := newRig(t, none, says(llmtest.Says("c1", "Hello")))
				tc.set(r)
				s := r.open(tc.send...)
				if first, _ := s.raw(); first == `{"type":"Ping"}` {
					t.Error("there is a Ping")
				} else {
					same(t, "events", tc.want, append([]string{short(t, first)}, s.rest()...))
				}
				same(t, "saved", tc.saved, r.saved())
				if asked := r.model.Asked(); len(asked) != 0 {
					t.Errorf("the model was asked %d times", len(asked))
				}
			})
		})
	}
}

func TestAPingComesAtOnceAndEveryHalfSecond(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, func(w http.ResponseWriter, asked llmtest.Asked, _ int) {
			time.Sleep(1600 * time.Millisecond) // on the fake clock
			llmtest.Events(w, llmtest.Says("c1", "Hello")...)
		})
		start := time.Now()
		s := r.open(user("hi"))
		var got []time.Duration
		for {
			data, ok := s.raw()
			if !ok {
				break
			}
			if data == `{"type":"Ping"}` {
				got = append(got, time.Since(start))
			}
		}
		same(t, "pings", []time.Duration{0, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond}, got)
	})
}

func TestFailuresOfTheModelAreMessagesThatAreNotSaved(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, func(w http.ResponseWriter, _ llmtest.Asked, _ int) {
			w.WriteHeader(429)
			io.WriteString(w, `{"error":{"message":"slow down"}}`)
		})
		same(t, "events", []string{"a Ran into this error: Rate limit exceeded: slow down.\n\nPlease try again. 0", "Finish stop 0/0"}, r.reply(user("hi")))
		same(t, "saved", []string{"u hi"}, r.saved())
		if got := len(r.asked()); got != 4 {
			t.Errorf("asked %d times, want 4", got)
		}
	})
}

func TestAStreamThatBreaksOffKeepsItsBeginning(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, says(llmtest.Says("c1", "Hel", "lo")[:2]))
		same(t, "events", []string{"a c1 Hel 0", "a c1 lo 0", "Finish stop 0/0"}, r.reply(user("hi")))
		same(t, "saved", []string{"u hi", "a Hello"}, r.saved())
	})
}

func TestAFailureOfTheEngineIsAnErrorAndAFinish(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, says(llmtest.Says("c1", "Hello")))
		r.store.failures = map[string]error{"AddUsage": errors.New("disk full")}
		same(t, "events", []string{"a c1 Hello 0", "Error Session cannot be written", "Finish stop 15/15"}, r.reply(user("hi")))
	})
}

func TestAClientThatDisconnectsEndsTheTurn(t *testing.T) {
	timeless(t, func(t *testing.T) {
		gone := make(chan struct{})
		r := newRig(t, none, func(w http.ResponseWriter, asked llmtest.Asked, n int) {
			if n == 0 {
				llmtest.Events(w, llmtest.Says("c1", "Hello")...)
				return
			}
			llmtest.Events(w, llmtest.Says("c2", "Half")[0])
			<-asked.Gone
			close(gone)
		})
		r.reply(user("hi"))
		s := r.open(user("more"))
		if event, _ := s.next(); event != "a c2 Half 15" {
			t.Fatalf("first event %q", event)
		}
		s.cancel()
		<-gone
		synctest.Wait()
		same(t, "saved", []string{"u hi", "a Hello", "u more"}, r.saved())
	})
}

func TestASlowReaderIsWaitedFor(t *testing.T) {
	timeless(t, func(t *testing.T) {
		texts := make([]string, 500)
		sent := 0
		r := newRig(t, none, func(w http.ResponseWriter, _ llmtest.Asked, _ int) {
			for range texts {
				llmtest.Events(w, `{"id":"c1","model":"m","choices":[{"delta":{"content":"`+strings.Repeat("x", 1000)+`"}}]}`)
				sent++
			}
			llmtest.Events(w, "[DONE]")
		})
		s := r.open(user("hi"))
		synctest.Wait() // until everything waits: pipes hold nothing, the queue holds 100
		if sent < 100 || sent > 200 {
			t.Errorf("the model has sent %d pieces before any was read, want little more than the queue holds", sent)
		}
		if got := len(s.rest()); got != 501 {
			t.Errorf("%d events, want 501", got)
		}
	})
}

func TestASessionThatHasAGivenNameKeepsIt(t *testing.T) {
	for name, set := range map[string]func(r *rig){
		"named by its user": func(r *rig) { r.store.session.UserSetName = true },
		"old": func(r *rig) {
			for range 3 {
				r.reply(user("hi"))
			}
			synctest.Wait()
			r.store.session.Name = "New session 1"
		},
	} {
		t.Run(name, func(t *testing.T) {
			timeless(t, func(t *testing.T) {
				r := newRig(t, none, says(llmtest.Says("c1", "Hello")))
				set(r)
				before := len(r.model.Asked())
				r.reply(user("hi"))
				synctest.Wait()
				if got := r.store.name(); got != "New session 1" || len(r.model.Asked()) != before+1 {
					t.Errorf("the session is called %q, and the model was asked %d times", got, len(r.model.Asked())-before)
				}
			})
		})
	}
}

func TestTheQuestionForAName(t *testing.T) {
	timeless(t, func(t *testing.T) {
		r := newRig(t, none, says(llmtest.Says("c1", "Hello")))
		r.reply(user("one"))
		synctest.Wait()
		r.reply(user("two"))
		synctest.Wait()
		var naming []string
		for _, asked := range r.model.Asked() {
			if strings.Contains(asked.Body, namingPrompt) {
				naming = append(naming, asked.Body)
			}
		}
		head := `{"model":"gpt-4o-mini","messages":[{"role":"system","content":"Describe the topic of a conversation in four words or fewer. ` +
			`Answer with a short description and nothing else."},{"role":"user","content":"The messages of the user:`
		same(t, "naming", []string{head + `\n\none"}]}`, head + `\n\none\n\ntwo"}]}`}, naming)
	})
}
