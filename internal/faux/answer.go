package faux

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An answer is a response before it is written. A fault changes one thing in it.
type answer struct {
	operation string // the operation in the contract: "GET /items/{id}"; "" if the contract does not have it
	item      string // the name of the item in the response, the first of several; "" if there is no item
	status    int
	header    []field
	value     any    // written as the JSON body, unless text is set
	text      []byte // the body as written
	stream    *stream

	// write replaces the server's own writing of the response. The connection closes after it.
	write func(w *wire, head, body []byte)

	method string
	sent   []byte // the body of the request
}

// A field is a header field.
type field struct{ name, value string }

// An object is a JSON object. Its members have no order, because each server may write them in its own.
type object = map[string]any

// answer returns the answer to a request.
func (s *Server) answer(r *http.Request, body []byte) *answer {
	a := &answer{method: r.Method, sent: body, status: http.StatusOK}
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	query := r.URL.Query()
	switch call := r.Method + " " + path[0]; {
	case call == "GET health" && len(path) == 1:
		a.operation, a.value = "GET /health", object{"status": "ok"}
	case call == "POST items" && len(path) == 1:
		a.operation = "POST /items"
		s.create(a, body)
	case call == "GET items" && len(path) == 1:
		a.operation = "GET /items"
		s.list(a, query.Get("shelf"))
	case call == "GET events" && len(path) == 1:
		a.operation = "GET /events"
		s.watch(a, query)
	case path[0] == "items" && len(path) == 2 && (r.Method == "GET" || r.Method == "DELETE"):
		a.operation = r.Method + " /items/{id}"
		s.one(a, path[1])
	case call == "GET items" && len(path) == 3 && path[2] == "label":
		a.operation = "GET /items/{id}/label"
		s.one(a, path[1])
	default:
		a.refuse(http.StatusNotFound, "NO_SUCH_PATH", r.URL.Path)
	}
	return a
}

func (a *answer) refuse(status int, code, message string) {
	a.status, a.header = status, nil
	a.value = object{"error": object{"code": code, "message": message}}
}

func (s *Server) create(a *answer, body []byte) {
	var in struct {
		Shelf, Name string
		Tags        []string
	}
	if err := json.Unmarshal(body, &in); err != nil || in.Shelf == "" || in.Name == "" {
		a.refuse(http.StatusBadRequest, "INVALID", "an item has a shelf and a name")
		return
	}
	it := s.shelves.create(in.Shelf, in.Name, in.Tags)
	a.status, a.item, a.value = http.StatusCreated, it.name, it.value()
	a.set("Location", "/items/"+it.id)
}

func (s *Server) list(a *answer, shelf string) {
	if shelf == "" {
		a.refuse(http.StatusBadRequest, "INVALID", "which shelf?")
		return
	}
	values := []any{}
	for _, it := range s.shelves.on(shelf) {
		if a.item == "" {
			a.item = it.name
		}
		values = append(values, it.value())
	}
	a.value = values
}

// one handles the operations on a single item.
func (s *Server) one(a *answer, id string) {
	it := s.shelves.find(id)
	if it == nil {
		a.refuse(http.StatusNotFound, "NO_SUCH_ITEM", "there is no item "+id)
		return
	}
	a.item = it.name
	switch a.operation {
	case "DELETE /items/{id}":
		s.shelves.remove(it)
		a.status = http.StatusNoContent
	case "GET /items/{id}/label":
		a.text = fmt.Appendf(nil, "%s (%s)\n", it.name, it.id)
		a.set("Content-Type", "text/plain; charset=utf-8")
	default:
		a.value = it.value()
		a.set("Cache-Control", "no-store")
		a.set("X-Shelf", it.shelf)
	}
}

func (s *Server) watch(a *answer, query url.Values) {
	shelf := query.Get("shelf")
	if shelf == "" {
		a.refuse(http.StatusBadRequest, "INVALID", "which shelf?")
		return
	}
	beat, _ := strconv.Atoi(query.Get("beat"))
	last, _ := strconv.Atoi(query.Get("last"))
	a.stream = &stream{server: s, shelf: shelf, beat: time.Duration(beat) * time.Millisecond, last: last}
	a.set("Content-Type", "text/event-stream")
	a.set("Cache-Control", "no-store")
}

// set replaces a header field.
func (a *answer) set(name, value string) {
	a.unset(name)
	a.header = append(a.header, field{name, value})
}

func (a *answer) unset(name string) {
	a.header = slices.DeleteFunc(a.header, func(f field) bool { return f.name == name })
}

// send writes the answer, and reports whether the connection can serve another request.
func (a *answer) send(w *wire) bool {
	if a.stream != nil && a.write == nil {
		a.stream.run(w, a)
		return false
	}
	style := w.server.Style
	body := a.text
	if body == nil && a.value != nil {
		body = style.JSON(a.value)
	}
	if _, typed := a.get("Content-Type"); !typed && a.value != nil {
		a.set("Content-Type", "application/json")
	}
	if a.write != nil {
		a.write(w, a.head(style), body)
		return false
	}
	if a.status == http.StatusNoContent {
		return w.put(style.end(a.head(style)))
	}
	framing, content := style.frame(body)
	return w.put(style.end(append(a.head(style), framing...)), content)
}

func (a *answer) get(name string) (string, bool) {
	for _, f := range a.header {
		if f.name == name {
			return f.value, true
		}
	}
	return "", false
}

// head returns the status line and the header fields, without the empty line after them.
func (a *answer) head(style *Style) []byte {
	out := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	for _, f := range style.header(append(a.header, field{"Date", time.Now().UTC().Format(http.TimeFormat)})) {
		out = fmt.Appendf(out, "%s: %s\r\n", f.name, f.value)
	}
	return out
}
