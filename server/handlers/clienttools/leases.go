package clienttools

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/files"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A lease keeps the tools of a client for a time after its disconnect (CT 14.4, decision S79). The registry's lock
// guards it.
type lease struct {
	length    time.Duration
	directory string    // of the registration
	due       time.Time // when it is over; zero unless the client has disconnected
	timer     *time.Timer
}

// runs reports whether the client has disconnected.
func (l *lease) runs() bool { return l != nil && !l.due.IsZero() }

// stop ends the time, and reports whether it had begun.
func (l *lease) stop() bool {
	if !l.runs() {
		return false
	}
	l.timer.Stop()
	l.due, l.timer = time.Time{}, nil
	return true
}

// leases keeps the clients with a lease in files, so that they survive a restart. Each client has a file of its own. The
// file alive has the time at which the server was last known to run, to a second: a lease does not run while the server
// does not.
type leases struct {
	registry *Registry

	// The registry's lock guards these.
	streams map[string]int  // how many are open, by client
	saved   map[string]bool // the clients with a file
	dir     string          // "" if there are no files
	log     *slog.Logger
	beating *time.Timer // nil unless a lease runs

	saving sync.Mutex // held while a file is written; before the registry's lock
}

// connected handles a stream that was opened. Its client's lease no longer runs. Requests that wait for the client are sent
// to the stream.
func (l *leases) connected(directory, clientID string, send func(api.ClientToolExecutionRequest)) {
	r := l.registry
	r.mu.Lock()
	l.streams[clientID]++
	if c, ok := r.clients.get(clientID); ok {
		c.lease.stop()
	}
	for _, e := range r.pending.all() {
		if e.waits && e.client == clientID && e.directory == directory {
			e.waits = false
			send(e.request)
		}
	}
	r.mu.Unlock()
	l.save(clientID)
}

// disconnected counts a stream that has ended. If it was the last one, the lease of the client begins to run.
func (l *leases) disconnected(clientID string) {
	if l.streams[clientID]--; l.streams[clientID] > 0 {
		return
	}
	delete(l.streams, clientID)
	if c, ok := l.registry.clients.get(clientID); ok && c.lease != nil {
		l.run(c, c.lease.length)
	}
}

// run starts the time of a client's lease.
func (l *leases) run(c *client, left time.Duration) {
	c.lease.stop()
	due := time.Now().Add(left)
	c.lease.due = due
	c.lease.timer = time.AfterFunc(left, func() { l.over(c, due) })
	if l.beating == nil && l.dir != "" {
		l.beating = time.AfterFunc(time.Second, l.beat)
	}
}

// over removes the tools of a client whose lease is over.
func (l *leases) over(c *client, due time.Time) {
	r := l.registry
	r.mu.Lock()
	now, ok := r.clients.get(c.id)
	if !r.stopped && ok && now == c && c.lease.runs() && c.lease.due.Equal(due) {
		r.forget(c.lease.directory, c.id)
	}
	r.mu.Unlock()
	l.save(c.id)
}

// set gives a client a lease, or none if the length is 0.
func (l *leases) set(c *client, directory string, length time.Duration) {
	ran := c.lease.stop()
	if c.lease = nil; length == 0 {
		return
	}
	c.lease = &lease{length: length, directory: directory}
	if ran { // a registration does not end it
		l.run(c, length)
	}
}

// stop stops all times. The leases go on when the server starts again.
func (l *leases) stop() {
	for _, c := range l.registry.clients.all() {
		if c.lease.runs() {
			c.lease.timer.Stop()
		}
	}
	if l.beating != nil {
		l.beating.Stop()
		l.touch()
	}
}

const alive = "alive"

// beat records that the server runs, each second while a lease does.
func (l *leases) beat() {
	r := l.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	runs := false
	for _, c := range r.clients.all() {
		runs = runs || c.lease.runs()
	}
	if r.stopped || !runs {
		l.beating = nil
		return
	}
	l.touch()
	l.beating.Reset(time.Second)
}

// touch records that the server runs now.
func (l *leases) touch() {
	now := time.Now()
	err := os.Chtimes(filepath.Join(l.dir, alive), now, now)
	if errors.Is(err, os.ErrNotExist) {
		var f *os.File
		if f, err = files.OpenPrivate(filepath.Join(l.dir, alive), os.O_WRONLY); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		l.log.Warn("leases not kept", "err", err)
	}
}

// A keptClient is the content of a file.
type keptClient struct {
	ClientID  string                     `json:"clientID"`
	Directory string                     `json:"directory"`
	Rank      uint64                     `json:"rank"`
	Lease     int64                      `json:"lease"`         // seconds
	Due       int64                      `json:"due,omitempty"` // milliseconds since 1970; 0 if it did not run
	Tools     []api.ClientToolDefinition `json:"tools"`         // with full IDs
}

// save writes or removes the file of a client, by what the registry knows now.
func (l *leases) save(clientID string) {
	if !l.concerns(clientID) {
		return // as for most clients
	}
	l.saving.Lock()
	defer l.saving.Unlock()
	name := fileOf(clientID)
	var err error
	if kept := l.kept(clientID); kept == nil {
		l.registry.mu.Lock()
		delete(l.saved, clientID)
		l.registry.mu.Unlock()
		err = os.Remove(filepath.Join(l.dir, name))
	} else {
		err = l.write(name, jsonwire.Marshal(*kept))
		if err == nil && kept.Due != 0 {
			l.touch()
		}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		l.log.Warn("lease not kept", "client", clientID, "err", err)
	}
}

// concerns reports whether a client has a file, or must have one.
func (l *leases) concerns(clientID string) bool {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	c, ok := l.registry.clients.get(clientID)
	return l.saved[clientID] || ok && c.lease != nil && l.dir != ""
}

// kept returns what the file of a client must have, or nil if it must have none. It remembers which of them it is.
func (l *leases) kept(clientID string) *keptClient {
	r := l.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.clients.get(clientID)
	if !ok || c.lease == nil || l.dir == "" {
		return nil
	}
	l.saved[clientID] = true
	kept := &keptClient{ClientID: clientID, Directory: c.lease.directory, Rank: c.rank, Lease: int64(c.lease.length / time.Second), Tools: []api.ClientToolDefinition{}}
	if c.lease.runs() {
		kept.Due = c.lease.due.UnixMilli()
	}
	for _, tool := range c.tools.all() {
		kept.Tools = append(kept.Tools, tool.ClientToolDefinition)
	}
	return kept
}

// fileOf returns the name of a client's file. A client ID may have any characters.
func fileOf(clientID string) string {
	sum := sha256.Sum256([]byte(clientID))
	return hex.EncodeToString(sum[:]) + ".json"
}

func (l *leases) write(name string, content []byte) error {
	return files.ReplacePrivate(filepath.Join(l.dir, name), content)
}

// maxFile is the maximum size of a client's file: its definitions, escaped.
const maxFile = 64 << 20

// KeepLeases keeps leases in the files of a directory, and takes over those that are there. A client that was connected
// when the server ended counts as disconnected since now. It must be called first.
func (r *Registry) KeepLeases(dir string, log *slog.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.leases
	l.dir, l.log = dir, log
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			log.Error("leases not read", "err", err)
		}
		return
	}
	ended := time.Now()
	if info, err := os.Stat(filepath.Join(dir, alive)); err == nil {
		ended = info.ModTime()
	}
	var all []keptClient
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".json") {
			continue
		}
		one, err := readKept(filepath.Join(dir, entry.Name()))
		if err != nil {
			log.Warn("lease not read", "file", entry.Name(), "err", err)
			continue
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b keptClient) int { return cmp.Compare(a.Rank, b.Rank) })
	for _, one := range all {
		l.restore(one, ended)
	}
}

func readKept(path string) (one keptClient, err error) {
	content, err := files.Read(path, maxFile)
	if err != nil {
		return one, err
	}
	text, err := jsonwire.Parse(content)
	if err != nil {
		return one, err
	}
	err = jsonwire.Unmarshal(text, &one)
	if err == nil && (one.Lease <= 0 || one.Lease > maxLease || fileOf(one.ClientID) != filepath.Base(path)) {
		err = errors.New("it is not the lease of a client")
	}
	return one, err
}

// restore takes over a client whose lease is not over. The server ended at the given time.
func (l *leases) restore(kept keptClient, ended time.Time) {
	r := l.registry
	length := time.Duration(kept.Lease) * time.Second
	left := length
	if kept.Due != 0 {
		left = min(length, time.UnixMilli(kept.Due).Sub(ended))
	}
	c := &client{id: kept.ClientID, lease: &lease{length: length, directory: kept.Directory}}
	tools := make([]definition, len(kept.Tools))
	for i, tool := range kept.Tools {
		tools[i] = definition{tool, len(jsonwire.Marshal(tool)) + keeping, new(atomic.Bool)}
	}
	growth, err := r.bounds.admit(r, c, true, tools)
	if left <= 0 || err != nil {
		if err != nil {
			l.log.Warn("client with a lease not taken over", "client", kept.ClientID, "err", err)
		}
		_ = os.Remove(filepath.Join(l.dir, fileOf(kept.ClientID)))
		return
	}
	l.saved[c.id] = true
	r.add(c, growth)
	for _, tool := range tools {
		r.owners.add(c, tool.ID)
		c.tools.set(tool.ID, tool)
	}
	l.run(c, left)
	content := kept
	content.Due = c.lease.due.UnixMilli()
	if err := l.write(fileOf(c.id), jsonwire.Marshal(content)); err != nil {
		l.log.Warn("lease not kept", "client", c.id, "err", err)
	}
	l.touch()
}
