package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/project"
)

// viewFlags are the flags of lockstep view.
type viewFlags struct {
	config string
	port   uint16
}

func viewCommand(w *environment) *cobra.Command {
	var f viewFlags
	cmd := &cobra.Command{
		Use:   "view [reports folder]",
		Short: "Serves the last report to a browser on this machine",
		Long: `Serves report.html and the other files of the reports folder to browsers on this machine, until Ctrl-C. The folder
is reports beside lockstep.yaml unless you name another. Prints the address and does not open a browser. After another
run, reload the page.

It serves only the files that lockstep run writes, and only to requests whose Host header names this machine.`,
		Example: `  lockstep view
  lockstep view nightly/reports --port 8080`,
		Args: atMostOne("folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := filepath.Join(filepath.Dir(f.config), "reports")
			if len(args) == 1 {
				dir = args[0]
			}
			return f.view(cmd.Context(), dir, w.stdout)
		},
	}
	configFlag(cmd, &f.config)
	cmd.Flags().Uint16Var(&f.port, "port", 0, "the port to listen on (default a free one)")
	return cmd
}

func (f *viewFlags) view(ctx context.Context, dir string, out io.Writer) error {
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer root.Close()
		_, err = root.Stat("report.html")
	}
	if err != nil {
		return &project.UsageError{What: err.Error(), Fix: "`lockstep run` writes report.html; or name the folder that has it"}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(f.port))))
	if err != nil {
		return &project.UsageError{What: err.Error(), Fix: "name another port with --port, or leave out --port"}
	}
	fmt.Fprintf(out, "%s is at http://%s/ until Ctrl-C\n", filepath.Join(dir, "report.html"), l.Addr())
	return serveUntil(ctx, l, &viewer{root})
}

// serveUntil answers requests until the context ends, then waits a few seconds for those still running.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	const patience = 5 * time.Second // with clients that are slow to send or to leave
	s := &http.Server{Handler: h, ReadHeaderTimeout: patience, IdleTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return &exitError{exitUnknown, err}
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := s.Shutdown(ending); err != nil {
		_ = s.Close() // cuts off the requests that are left
	}
	<-served
	return nil
}

// A viewer serves the reports in a folder. They contain untrusted data from servers, so no other site may read them, frame them
// or run in them.
type viewer struct{ root *os.Root }

// servedFiles are the files that are served, by their names, with their types.
var servedFiles = map[string]string{
	"report.html": "text/html; charset=utf-8",
	"report.json": "application/json",
	"junit.xml":   "text/plain; charset=utf-8",
	"summary.md":  "text/plain; charset=utf-8",
	"badge.svg":   "image/svg+xml",
	"run.jsonl":   "text/plain; charset=utf-8",
}

// viewPolicy allows at most what the page needs. The page also has a policy of its own, which allows only its own
// script. Browsers apply both.
const viewPolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (v *viewer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", viewPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "report.html"
	}
	kind, known := servedFiles[name]
	switch {
	case !isLoopback(r.Host):
		// A foreign site whose name was made to resolve to this machine (DNS rebinding) sends that name.
		http.Error(w, "wrong host: use localhost or 127.0.0.1", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are allowed", http.StatusMethodNotAllowed)
	case !known:
		http.Error(w, "no such report", http.StatusNotFound)
	default:
		h.Set("Content-Type", kind)
		v.send(w, r, name)
	}
}

// send sends a regular file. It refuses links and devices.
func (v *viewer) send(w http.ResponseWriter, r *http.Request, name string) {
	info, err := v.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	var file *os.File
	if err == nil {
		file, err = v.root.Open(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, "no such report: a run writes it when it ends", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		defer file.Close()
		http.ServeContent(w, r, "", time.Time{}, file)
	}
}

// isLoopback reports whether a request's host can only be this machine, whatever DNS says.
func isLoopback(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil && ip.IsLoopback()
}
