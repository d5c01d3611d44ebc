package clienttools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

// A raw tool has a schema of its own, and sees the call.
func ExampleClient_Register() {
	ctx := context.Background()
	agent := startAgent() // elsewhere: the URL of a running server
	defer agent.Close()
	client, err := clienttools.New(agent.URL, &clienttools.Options{ClientID: "kitchen", Timeout: 5 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	if err := client.Connect(ctx); err != nil {
		fmt.Println(err)
		return
	}
	err = client.Register(ctx, clienttools.ClientTool{
		Definition: clienttools.Definition{
			ID: "brew", Description: "Brews tea", Parameters: json.RawMessage(`{"type":"object","properties":{"tea":{"enum":["black","green"]}}}`),
		},
		Handle: func(ctx context.Context, call *clienttools.Call) (*clienttools.Result, error) {
			for done := 0.0; done < 3; done++ {
				if err := call.Progress(ctx, clienttools.Progress{Progress: done, Total: 3, Message: "heating water"}); err != nil {
					return nil, err
				}
			}
			return &clienttools.Result{Title: "Tea", Output: "brewed from " + string(call.Input)}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(agent.call("brew", `{"tea":"green"}`))
	// Output: {"status":"success","title":"Tea","output":"brewed from {\"tea\":\"green\"}"}
}

// A program that starts its own server, and talks to the model.
func ExampleStartServer() {
	ctx := context.Background()
	server, err := clienttools.StartServer(ctx, nil) // the key of the model is in OPENAI_API_KEY
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	if err := server.Client.Register(ctx, timeTool(time.Now)); err != nil {
		fmt.Println(err)
		return
	}
	session, err := server.Client.StartSession(ctx, ".")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := session.SetModel(ctx, "openai", "gpt-4o"); err != nil {
		fmt.Println(err)
		return
	}
	for event, err := range session.Events(ctx, "What time is it in Paris?") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(event.Text())
	}
}

// An agent is a small server that calls tools, for examples without a model.
type agent struct {
	*httptest.Server
	calls   chan string
	results chan string
}

func startAgent() *agent {
	a := &agent{calls: make(chan string), results: make(chan string, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /client-tools/pending/{client}", func(w http.ResponseWriter, r *http.Request) {
		for {
			select {
			case call := <-a.calls:
				fmt.Fprintf(w, "event: tool-request\ndata: %s\n\n", call)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /client-tools/result", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Result json.RawMessage }
		_ = json.NewDecoder(r.Body).Decode(&body)
		a.results <- string(body.Result)
		fmt.Fprint(w, `{"success":true}`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"success":true}`) })
	a.Server = httptest.NewServer(mux)
	return a
}

// call calls a tool like a server, and returns the result.
func (a *agent) call(tool, input string) string {
	a.calls <- fmt.Sprintf(`{"type":"client-tool-request","requestID":"r","tool":%q,"input":%s}`, tool, input)
	return strings.TrimSpace(<-a.results)
}
