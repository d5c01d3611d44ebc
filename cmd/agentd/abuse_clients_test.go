//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"
)

// A toolClient is a connected client that answers the requests for its tool.
type toolClient struct {
	id     string
	leave  func()
	left   atomic.Bool
	served chan error // how serving ended
}

// calling is how many requests the tests have under way at once.
const calling = 8

// spread calls do for each number below count, and returns the first error. At most calling calls run at once.
func spread(count int, do func(i int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make(chan error, calling)
	for range calling {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}

// newCrowd returns an api that keeps its connections while calling requests use them.
func (s *served) newCrowd() *api {
	return &api{url: s.url, transport: &http.Transport{MaxIdleConnsPerHost: calling}}
}

// toolClients connects clients, half of them over each wire, and registers a tool of each. A tenth may have a lease of a
// second.
func (a *abuse) toolClients(api *api, prefix string, count int, leases bool) ([]*toolClient, error) {
	all := make([]*toolClient, count)
	err := spread(count, func(i int) (err error) {
		id, registration := fmt.Sprintf("%s%d", prefix, i), object{"tools": oneTool}
		if leases && i%20 < 2 { // one over either wire
			registration["lease"] = 1
		}
		if i%2 == 0 {
			all[i], err = openStream(api, id, registration)
		} else {
			all[i], err = a.openSocket(id, registration)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, disconnect(all))
	}
	return all, nil
}

// oneTool are the tools that each client registers.
var oneTool = []object{{"id": "a", "description": "A", "parameters": object{}}}

// register registers the tools of a client over HTTP.
func register(api *api, id string, registration object) error {
	registration["clientID"] = id
	_, err := api.do("POST", "/client-tools/register", registration)
	return err
}

// openStream connects a client that gets requests over an event stream and answers them over HTTP.
func openStream(api *api, id string, registration object) (*toolClient, error) {
	body, err := api.open("GET", "/client-tools/pending/"+id, nil)
	if err != nil {
		return nil, err
	}
	c := &toolClient{id: id, leave: func() { body.Close() }, served: make(chan error, 1)}
	if err := register(api, id, registration); err != nil {
		c.leave()
		return nil, err
	}
	lines := bufio.NewScanner(body)
	take := func() ([]byte, error) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return []byte(data), nil
			}
		}
		return nil, errors.Join(lines.Err(), io.EOF)
	}
	go c.serve(take, func(requestID string) error {
		_, err := api.do("POST", "/client-tools/result", object{"requestID": requestID, "result": resultOf(id)})
		return err
	})
	return c, nil
}

// openSocket connects a client that does everything over a WebSocket.
func (a *abuse) openSocket(id string, registration object) (*toolClient, error) {
	ctx := a.t.Context()
	conn, _, err := websocket.Dial(ctx, a.s.url+"/client-tools/ws/"+id, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: a.api.transport}, HTTPHeader: http.Header{"X-Secret-Key": {"test"}},
	})
	if err != nil {
		return nil, err
	}
	c := &toolClient{id: id, leave: func() { conn.CloseNow() }, served: make(chan error, 1)}
	say := func(message object) error {
		text, err := json.Marshal(message)
		if err != nil {
			return err
		}
		return conn.Write(ctx, websocket.MessageText, text)
	}
	registration["type"] = "register"
	if err := errors.Join(say(registration), wantRegistered(ctx, conn, id)); err != nil {
		c.leave()
		return nil, err
	}
	take := func() ([]byte, error) {
		_, text, err := conn.Read(ctx)
		var message struct{ Request json.RawMessage }
		if err == nil {
			err = json.Unmarshal(text, &message)
		}
		return message.Request, err
	}
	go c.serve(take, func(requestID string) error {
		return say(object{"type": "result", "requestID": requestID, "result": resultOf(id)})
	})
	return c, nil
}

func wantRegistered(ctx context.Context, conn *websocket.Conn, id string) error {
	_, text, err := conn.Read(ctx)
	if want := fmt.Sprintf(`{"type":"registered","toolIDs":["client_%s_a"]}`, id); err == nil && string(text) != want {
		err = fmt.Errorf("a registration is answered %s, want %s", text, want)
	}
	return err
}

// resultOf is what a client answers: no two clients answer the same.
func resultOf(id string) object { return object{"status": "success", "title": "T", "output": id} }

// serve answers requests until the client leaves.
func (c *toolClient) serve(take func() ([]byte, error), answer func(requestID string) error) {
	for {
		data, err := take()
		if err == nil && len(data) == 0 { // a ping
			continue
		}
		var request struct{ RequestID string }
		if err == nil {
			err = json.Unmarshal(data, &request)
		}
		if err == nil {
			err = answer(request.RequestID)
		}
		if err != nil {
			if c.left.Load() {
				err = nil
			}
			c.served <- err
			return
		}
	}
}

// requestOf is the ID of the request of a client's tool.
func requestOf(id string) string { return "request_" + id }

// execute calls the tool of a client, and checks that this client has answered.
func execute(api *api, id string) error {
	answer, err := api.do("POST", "/client-tools/execute", object{"toolID": "client_" + id + "_a", "requestID": requestOf(id)})
	if err != nil {
		return fmt.Errorf("execute the tool of %s: %w", id, err)
	}
	var got struct{ Output string }
	if err := json.Unmarshal(answer, &got); err != nil || got.Output != id {
		return fmt.Errorf("the tool of %s is answered %s", id, answer)
	}
	return nil
}

// disconnect disconnects clients, and returns an error if one had stopped before.
func disconnect(clients []*toolClient) error {
	var errs []error
	for _, c := range clients {
		if c == nil {
			continue
		}
		c.left.Store(true)
		c.leave()
		if err := <-c.served; err != nil {
			errs = append(errs, fmt.Errorf("client %s: %w", c.id, err))
		}
	}
	return errors.Join(errs...)
}
