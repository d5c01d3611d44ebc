// Package diagnostics collects the data for diagnosing a session (GA 5.2).
package diagnostics

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	gen "github.com/lockstep-dev/lockstep/gen/server"
	"github.com/lockstep-dev/lockstep/server/domain/session"
	"github.com/lockstep-dev/lockstep/server/httpapi/response"
	"github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/store"
)

// Handlers implement the operation getDiagnostics of the contract.
type Handlers struct {
	Store       *store.Store
	Directories settings.Directories
	Log         *slog.Logger
}

// GetDiagnostics answers GET /diagnostics/{session_id}. It answers 500 to every error of the archive.
func (h Handlers) GetDiagnostics(ctx context.Context, request gen.GetDiagnosticsRequestObject) (gen.GetDiagnosticsResponseObject, error) {
	content, err := h.archive(ctx, request.SessionID)
	if err != nil {
		if !errors.Is(err, session.ErrNotFound) {
			h.Log.ErrorContext(ctx, "diagnostics failed", "err", err)
		}
		return gen.FailedResponse{}, nil
	}
	if strings.ContainsFunc(request.SessionID, func(r rune) bool { return r < ' ' || r == 0x7f }) { // not allowed in a header field
		content.Close()
		return gen.GetDiagnostics400Response{}, nil
	}
	return gen.GetDiagnostics200ApplicationZipResponse{Writer: download{"diagnostics_" + request.SessionID + ".zip", content}}, nil
}

// A download is a ZIP archive, to be saved under a name. Writing it also closes it.
type download struct {
	name    string
	content *temporary
}

func (d download) Write(w http.ResponseWriter) error {
	defer d.content.Close()
	size, err := d.content.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = d.content.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
	response.Head(w, http.StatusOK, "application/zip", int(size))
	_, err = io.Copy(w, d.content.File)
	return err
}

const (
	maxLogs  = 10
	maxBytes = 256 << 20 // of all entries
)

// A temporary file is removed when it is closed. Archives are in files, so that slow readers take no memory.
type temporary struct {
	*os.File
	named bool // the platform cannot remove an open file
}

func newTemporary() (*temporary, error) {
	f, err := os.CreateTemp("", "agentd-diagnostics-*")
	if err != nil {
		return nil, err
	}
	return &temporary{f, os.Remove(f.Name()) != nil}, nil
}

// Close closes and removes the file.
func (t *temporary) Close() error {
	err := t.File.Close()
	if t.named {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}

// archive creates the archive. Its entries are in the order of GA 5.2.
func (h Handlers) archive(ctx context.Context, sessionID string) (content *temporary, err error) {
	session, err := h.Store.Load(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	logs, err := newestLogs(h.Directories.Logs())
	if err != nil {
		return nil, err
	}
	content, err = newTemporary()
	if err != nil {
		return nil, err
	}
	a := archive{zip: zip.NewWriter(content), left: maxBytes}
	for _, log := range logs {
		a.file("logs/"+filepath.Base(log), log)
	}
	a.add("session.json", bytes.NewReader(session.Export()))
	a.file("config.yaml", filepath.Join(h.Directories.Config, "config.yaml"))
	a.add("system.txt", strings.NewReader(system(time.Now())))
	a.file("schedule.json", filepath.Join(h.Directories.Data, "schedule.json"))
	a.file("schedules.json", filepath.Join(h.Directories.Data, "schedules.json"))
	a.directory("scheduled_recipes", filepath.Join(h.Directories.Data, "scheduled_recipes"))
	if a.err == nil {
		a.err = a.zip.Close()
	}
	if a.err != nil {
		content.Close()
		return nil, a.err
	}
	return content, nil
}

// newestLogs returns the paths of the newest logs of calls to models.
func newestLogs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var logs []fs.FileInfo
	for _, entry := range entries {
		if !entry.Type().IsRegular() || filepath.Ext(entry.Name()) != ".jsonl" {
			continue
		}
		if info, err := entry.Info(); err == nil { // otherwise it was removed in the meantime
			logs = append(logs, info)
		}
	}
	slices.SortStableFunc(logs, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	paths := make([]string, min(len(logs), maxLogs))
	for i := range paths {
		paths[i] = filepath.Join(dir, logs[i].Name())
	}
	return paths, nil
}

// Version is the version of goose whose behaviour the server has.
const Version = "1.16.0"

// system describes the system that the server runs on.
func system(now time.Time) string {
	return fmt.Sprintf("App Version: %s\nOS: %s\nOS Version: %s\nArchitecture: %s\nTimestamp: %s\n",
		Version, runtime.GOOS, osVersion(), runtime.GOARCH, now.UTC().Format(time.RFC3339))
}

// osVersion returns the version of the operating system.
func osVersion() string {
	release, _ := os.ReadFile("/etc/os-release")
	for line := range strings.SplitSeq(string(release), "\n") {
		if version, ok := strings.CutPrefix(line, "VERSION_ID="); ok {
			return strings.Trim(version, `"`)
		}
	}
	return "unknown"
}

// An archive is being written. It keeps its first error, and ignores what is added after it.
type archive struct {
	zip  *zip.Writer
	left int64
	err  error
}

func (a *archive) add(name string, content io.Reader) {
	if a.err != nil {
		return
	}
	entry, err := a.zip.Create(name)
	if err != nil {
		a.err = err
		return
	}
	n, err := io.Copy(entry, io.LimitReader(content, a.left+1))
	if a.left -= n; a.left < 0 {
		err = cmp.Or(err, fmt.Errorf("more than %d bytes", int64(maxBytes)))
	}
	a.err = err
}

// file adds a regular file. It leaves out a file that was removed in the meantime, and anything that is not a regular
// file: opening a FIFO could block forever, and a link may lead anywhere (decision G18).
func (a *archive) file(name, path string) {
	if a.err != nil {
		return
	}
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() || errors.Is(err, fs.ErrNotExist) {
		return
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed in the meantime
	case err != nil:
		a.err = err
	default:
		a.add(name, f)
		f.Close()
	}
}

// directory adds the regular files of a directory, if it exists.
func (a *archive) directory(name, path string) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil && a.err == nil {
		a.err = err
	}
	for _, entry := range entries {
		a.file(name+"/"+entry.Name(), filepath.Join(path, entry.Name()))
	}
}

// GetStatus answers GET /status.
func (Handlers) GetStatus(context.Context, gen.GetStatusRequestObject) (gen.GetStatusResponseObject, error) {
	return gen.GetStatus200TextResponse{Body: "ok"}, nil
}
