package clienttools_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lockstep-dev/lockstep/sdk/clienttools"
)

const maxFile = 1 << 20

type file struct {
	Path string `json:"path" jsonschema:"the path of a file, relative to the shared folder"`
}

// fileTool reads files below a folder. A path or a link that leads out of it is an error, because os.Root opens it.
func fileTool(root *os.Root) clienttools.ClientTool {
	return clienttools.Tool("read_file", "Reads a text file of the shared folder", func(_ context.Context, in file) (clienttools.Result, error) {
		info, err := root.Stat(in.Path)
		if err != nil {
			return clienttools.Result{}, err
		}
		if !info.Mode().IsRegular() { // to open a named pipe would wait for its writer
			return clienttools.Result{}, fmt.Errorf("%s is not a regular file", in.Path)
		}
		f, err := root.Open(in.Path)
		if err != nil {
			return clienttools.Result{}, err
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
		if err != nil {
			return clienttools.Result{}, err
		}
		if len(text) > maxFile {
			return clienttools.Result{}, fmt.Errorf("%s has more than %d bytes", in.Path, maxFile)
		}
		return clienttools.Result{Title: in.Path, Output: string(text), Metadata: map[string]any{"bytes": len(text)}}, nil
	})
}

// A file below an allowed folder.
func ExampleTool_files() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "shared")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("black tea"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		fmt.Println(err)
		return
	}

	root, err := os.OpenRoot(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()
	agent := startAgent() // elsewhere: the URL of a running server
	defer agent.Close()
	client, err := clienttools.New(agent.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	if err := client.Register(ctx, fileTool(root)); err != nil {
		fmt.Println(err)
		return
	}
	if err := client.Connect(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(agent.call("read_file", `{"path":"notes.txt"}`))
	fmt.Println(agent.call("read_file", `{"path":"../notes.txt"}`))
	fmt.Println(agent.call("read_file", `{"path":"link"}`))
	// Output:
	// {"status":"success","title":"notes.txt","output":"black tea","metadata":{"bytes":9}}
	// {"status":"error","error":"statat ../notes.txt: path escapes from parent"}
	// {"status":"error","error":"statat link: path escapes from parent"}
}
