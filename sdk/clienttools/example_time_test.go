package clienttools_test

import (
	"context"
	"fmt"
	"time"
	_ "time/tzdata" // the zones, also where the system has none

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

type zone struct {
	Name string `json:"zone" jsonschema:"an IANA time zone, such as Europe/Paris"`
}

// timeTool tells the time in a time zone.
func timeTool(now func() time.Time) clienttools.ClientTool {
	return clienttools.Tool("time", "The current time in a time zone", func(_ context.Context, in zone) (string, error) {
		location, err := time.LoadLocation(in.Name)
		if err != nil {
			return "", err // the model sees the text
		}
		return now().In(location).Format(time.RFC3339), nil
	})
}

// The time in a time zone: a function becomes a tool.
func ExampleTool() {
	ctx := context.Background()
	agent := startAgent() // elsewhere: the URL of a running server
	defer agent.Close()
	client, err := clienttools.New(agent.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	noon := func() time.Time { return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC) } // elsewhere: time.Now
	if err := client.Register(ctx, timeTool(noon)); err != nil {
		fmt.Println(err)
		return
	}
	if err := client.Connect(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(agent.call("time", `{"zone":"Europe/Paris"}`))
	fmt.Println(agent.call("time", `{"zone":"Mars/Olympus"}`))
	// Output:
	// {"status":"success","title":"time","output":"2026-07-01T14:00:00+02:00"}
	// {"status":"error","error":"unknown time zone Mars/Olympus"}
}
