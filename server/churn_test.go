package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// TestClientsLeaveNothingInMemory connects clients, executes the tool of each, and disconnects them. The objects in memory
// do not become more with the clients.
func TestClientsLeaveNothingInMemory(t *testing.T) {
	const clients = 300
	addr := startServer(t)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	post := func(path, body string) {
		resp, err := client.Post("http://"+addr+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 {
			t.Errorf("%s %s: %d %s, %v", path, body, resp.StatusCode, got, err)
		}
	}
	comeAndGo := func(id string) {
		stream, err := client.Get("http://" + addr + "/client-tools/pending/" + id)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Body.Close()
		post("/client-tools/register", `{"clientID":"`+id+`","tools":[`+benchTool+`]}`)
		executed := make(chan struct{})
		go func() {
			defer close(executed)
			post("/client-tools/execute", `{"toolID":"client_`+id+`_a","requestID":"`+id+`"}`)
		}()
		for lines := bufio.NewScanner(stream.Body); lines.Scan() && !strings.HasPrefix(lines.Text(), "data: {"); {
		}
		post("/client-tools/result", `{"requestID":"`+id+`","result":{"status":"success","title":"","output":""}}`)
		<-executed
	}
	var objects [3]uint64
	for round := range objects {
		for i := range clients {
			comeAndGo(fmt.Sprint("c", round, "-", i))
		}
		objects[round] = objectsInUse(client)
	}
	if grown := int64(objects[2]) - int64(objects[1]); grown > clients { // some are of the process and its other tests
		t.Errorf("%d clients left %d objects in memory", clients, grown)
	}
}

// objectsInUse returns how many objects are in memory when two garbage collections find no fewer: the ends of connections
// take a moment, and pools keep objects for a collection.
func objectsInUse(client *http.Client) uint64 {
	client.CloseIdleConnections()
	var m runtime.MemStats
	for few := 0; few < 3; few++ {
		before := m.HeapObjects
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		if before == 0 || m.HeapObjects < before {
			few = 0
		}
	}
	return m.HeapObjects
}
