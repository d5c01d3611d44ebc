// Package clienttools lets a program offer its own functions as tools to an agent server. The model calls them, and they
// run in the program, with its files, databases and permissions.
//
//	type place struct {
//		Zone string `json:"zone" jsonschema:"a time zone, such as Europe/Paris"`
//	}
//
//	client, err := clienttools.New("http://127.0.0.1:3000", nil)
//	...
//	defer client.Close()
//	err = client.Register(ctx, clienttools.Tool("time", "The time in a time zone", func(ctx context.Context, in place) (string, error) {
//		zone, err := time.LoadLocation(in.Zone)
//		if err != nil {
//			return "", err // the model sees the text
//		}
//		return time.Now().In(zone).Format(time.RFC1123), nil
//	}))
//	...
//	session, err := client.StartSession(ctx, "/home/me/project") // registers the tools and connects
//	...
//	err = session.SetModel(ctx, "openai", "gpt-4o")
//	...
//	text, err := session.Prompt(ctx, "What time is it in Paris?")
//
// # Which function do I want?
//
//   - [New] makes a client of a running server. [StartServer] starts a server first, as a child of the program.
//   - [Tool] makes a tool from a function, with the JSON Schema of its input type. A [ClientTool] literal has any schema.
//   - [Client.Register] and [Client.Unregister] may be called at any time, also while calls run.
//   - [Client.StartSession], [Session.SetModel] and [Session.Prompt] talk to a model. [Client.Connect] alone serves calls of
//     other programs.
//   - [Call.Progress] and [Call.CallTool] report and ask while a tool runs. [CallOf] finds the call in a tool's context.
//
// # What happens by itself
//
// When the stream of calls is lost, the client waits 1, 2, 4, 8 and 16 seconds before its five attempts to connect, and
// registers all tools again. After that it reports [ErrMaxReconnects] and is disconnected. Calls run at the same time, each
// in a goroutine of its own, with a context that ends after [Options.Timeout], or when the client is closed.
// [Client.Close] waits for them.
//
// The behaviour is that of docs/behaviour/client-tools.md, sections 11.2 to 11.5 and 11.7.
package clienttools
