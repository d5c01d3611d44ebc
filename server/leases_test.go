package server_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/settings"
)

// lease registers the tool a of a client with a lease of 10 s.
func (r *rig) lease(client string) {
	r.t.Helper()
	r.json("POST /client-tools/register?directory=/d", `{"clientID":"`+client+`","tools":[`+toolA+`],"lease":10}`).is(r.t, "register", 200, `{"registered":["client_`+client+`_a"]}`)
}

// has reports whether a client has its tool.
func (r *rig) has(client string) bool {
	r.t.Helper()
	return r.do("GET /client-tools/tools/"+client).body != "[]"
}

func TestALeaseKeepsTheToolsOfAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		r.lease("c")
		bus := r.open("/event?directory=/d")
		bus.take()
		first, second := r.open("/client-tools/pending/c?directory=/d"), r.open("/client-tools/pending/c?directory=/d")
		call := func(id string) <-chan answer {
			return r.start(withJSON("POST /client-tools/execute?directory=/d", `{"toolID":"client_c_a","requestID":"`+id+`","timeout":60000}`))
		}
		failed := call("r")
		synctest.Wait()
		first.close() // fails the call, although another stream is open
		(<-failed).is(t, "a pending call", 500, coded("INTERNAL_ERROR", "Client disconnected"))
		time.Sleep(20 * time.Second) // the lease does not run
		second.close()
		time.Sleep(9 * time.Second)
		waits, elsewhere := call("w"), r.start(withJSON("POST /client-tools/execute?directory=/e", `{"toolID":"client_c_a","requestID":"e","timeout":60000}`))
		synctest.Wait()
		same(t, "has its tool during the lease", true, r.has("c"))
		other := r.socket("/client-tools/ws/c?directory=/e")
		other.want(`{"type":"request","request":` + request("client_c_a", "e") + `}`)
		again := r.open("/client-tools/pending/c?directory=/d")
		same(t, "what waited", []string{toolRequest(request("client_c_a", "w"))}, again.take())
		for _, id := range []string{"w", "e"} {
			r.json("POST /client-tools/result", `{"requestID":"`+id+`","result":{"status":"success","title":"","output":""}}`)
		}
		same(t, "statuses", []int{200, 200}, []int{(<-waits).status, (<-elsewhere).status})
		same(t, "nothing is sent twice", []string(nil), again.take())

		other.conn.Close()
		again.close()
		bus.take()
		time.Sleep(5 * time.Second)
		r.lease("c") // begins again, and does not end
		waits = r.start(withJSON("POST /client-tools/execute", `{"toolID":"client_c_a","timeout":20000}`))
		time.Sleep(10*time.Second - time.Millisecond)
		same(t, "has its tool before the end", true, r.has("c"))
		bus.take()
		time.Sleep(time.Millisecond)
		same(t, "at the end", []string{"data: " + unregisteredEvent("c", "client_c_a") + "\n\n"}, bus.take())
		(<-waits).is(t, "a call that waits", 504, coded("TIMEOUT", "Client tool execution timed out after 20000ms"))
	})
}

func TestWhatEndsALease(t *testing.T) {
	for _, tc := range []struct {
		request, body string
		kept          bool
	}{
		{"POST /client-tools/register", `{"clientID":"c","tools":[]}`, false},
		{"DELETE /client-tools/unregister", `{"clientID":"c"}`, false},
		{"DELETE /client-tools/unregister", `{"clientID":"c","toolIDs":["a","b"]}`, false},
		{"DELETE /client-tools/unregister", `{"clientID":"c","toolIDs":["a"]}`, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := settings.Below(t.TempDir())
			r := start(t, server.Config{Directories: d})
			r.lease("c")
			r.json("POST /client-tools/register", `{"clientID":"c","lease":10,"tools":[`+strings.ReplaceAll(toolA, `"a"`, `"b"`)+`]}`)
			r.json(tc.request, tc.body)
			files, _ := filepath.Glob(filepath.Join(d.Leases(), "*.json"))
			same(t, tc.body+": files", tc.kept, len(files) == 1)
			r.json("POST /client-tools/register", `{"clientID":"d","tools":[`+toolA+`]}`)
			r.open("/client-tools/pending/c").close()
			same(t, tc.body, tc.kept, r.has("c"))
		})
	}
}

func TestALeaseSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := settings.Below(t.TempDir())
		r := start(t, server.Config{Directories: d})
		r.lease("b")
		r.lease("c")
		r.register("without", "a")
		r.open("/client-tools/pending/b") // is connected when the server stops
		r.open("/client-tools/pending/c").close()
		time.Sleep(4 * time.Second)
		stopped := time.Now()
		r.stop()
		time.Sleep(time.Hour) // does not count

		touched := filepath.Join(d.Leases(), "alive")
		info, err := os.Stat(touched)
		if err != nil || !info.ModTime().Equal(stopped) {
			t.Fatalf("the server ended at %v, %v; want %s", info, err, stopped)
		}
		r = start(t, server.Config{Directories: d})
		bus := r.open("/event?directory=/d")
		bus.take()
		same(t, "tools", `{"client_b_a":{"id":"client_b_a","description":"A","parameters":{}},"client_c_a":{"id":"client_c_a","description":"A","parameters":{}}}`, r.do("GET /client-tools/tools").body)
		time.Sleep(6*time.Second - time.Millisecond)
		same(t, "before the end", true, r.has("c"))
		time.Sleep(time.Millisecond)
		same(t, "at the end", []string{"data: " + unregisteredEvent("c", "client_c_a") + "\n\n"}, bus.take())
		same(t, "the one that was connected", true, r.has("b"))
		time.Sleep(4 * time.Second)
		same(t, "disconnected since the start", false, r.has("b"))
		left, _ := filepath.Glob(filepath.Join(d.Leases(), "*.json"))
		same(t, "files", 0, len(left))
	})
}

func TestLeasesThatCannotBeReadOrWritten(t *testing.T) {
	d := settings.Below(t.TempDir())
	if err := os.MkdirAll(d.Leases(), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"x.json": `{"clientID":"c","lease":5,"tools":[]}`, "y.json": `{`, "z.json": `[]`} {
		if err := os.WriteFile(filepath.Join(d.Leases(), name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := startTCP(t, server.Config{Directories: d})
	same(t, "tools", "{}", r.do("GET /client-tools/tools").body)
	if got := strings.Count(r.log.String(), "lease not read"); got != 3 {
		t.Errorf("%d warnings, want 3:\n%s", got, r.log)
	}
	r.stop()
	if err := os.RemoveAll(d.Leases()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Leases(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r = startTCP(t, server.Config{Directories: d})
	r.lease("c")
	if !strings.Contains(r.log.String(), "lease not kept") {
		t.Errorf("no warning that the lease is only in memory:\n%s", r.log)
	}
}

func TestLeasesThatAreWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Config{})
		s := r.socket("/client-tools/ws/c")
		defer io.Copy(io.Discard, s.conn)
		for lease, issue := range map[string]string{
			`0`:     `{"origin":"number","code":"too_small","minimum":1,"inclusive":true,"path":["lease"],"message":"Too small: expected number to be >=1"}`,
			`86401`: `{"origin":"number","code":"too_big","maximum":86400,"inclusive":true,"path":["lease"],"message":"Too big: expected number to be <=86400"}`,
			`1.5`:   `{"expected":"int","format":"safeint","code":"invalid_type","path":["lease"],"message":"Invalid input: expected int, received number"}`,
			`"1"`:   `{"expected":"number","code":"invalid_type","path":["lease"],"message":"Invalid input: expected number, received string"}`,
		} {
			body := `{"clientID":"c","tools":[],"lease":` + lease + `}`
			r.json("POST /client-tools/register", body).is(t, lease, 400, `{"data":`+body+`,"error":[`+issue+`],"success":false}`)
		}
		s.send(`{"type":"register","tools":[],"lease":0}`)
		s.want(`{"type":"error","error":"lease: Too small: expected number to be >=1"}`)
		s.conn.Close()
	})
}
