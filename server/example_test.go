package server_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/lockstep-dev/lockstep/server"
	"github.com/lockstep-dev/lockstep/server/settings"
)

func ExampleServer_Serve() {
	root, err := os.MkdirTemp("", "agent-server")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	srv, err := server.New(server.Config{Directory: "/home/me/project", Directories: settings.Below(root)})
	if err != nil {
		fmt.Println(err)
		return
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	stopped := make(chan error)
	go func() { stopped <- srv.Serve(ctx, ln) }()

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post("http://"+ln.Addr().String()+"/client-tools/register", "application/json",
		strings.NewReader(`{"clientID": "me", "tools": [{"id": "add", "description": "Adds", "parameters": {}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	fmt.Println(resp.Status, string(body))

	stop()
	fmt.Println(<-stopped)
	// Output:
	// 200 OK {"registered":["client_me_add"]}
	// <nil>
}
