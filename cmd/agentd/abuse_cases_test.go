//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// send sends a body unchanged, and returns the status and the size of the answer.
func (a *abuse) send(method, path, body string) (status, size int, err error) {
	req, err := http.NewRequest(method, a.s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Secret-Key", "test")
	resp, err := a.api.transport.RoundTrip(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, int(n), err
}

// oneOf returns an error unless the status is one of those wanted.
func oneOf(what string, status int, wanted ...int) error {
	for _, want := range wanted {
		if status == want {
			return nil
		}
	}
	return fmt.Errorf("%s: status %d, want one of %v", what, status, wanted)
}

// registrations registers 15 clients with 4 MB each. The server has room for half of them.
func (a *abuse) registrations() error {
	description := strings.Repeat("x", 4_000_000/a.scale(1, 100))
	var refused int
	for i := range 15 {
		status, _, err := a.send("POST", "/client-tools/register", fmt.Sprintf(`{"clientID":"c%d","tools":[{"id":"a","description":%q,"parameters":{}}]}`, i, description))
		if err = errors.Join(err, oneOf("register", status, 200, 429)); err != nil {
			return err
		}
		if status == 429 {
			refused++
		}
	}
	if a.whole && refused != 7 {
		return fmt.Errorf("%d of 15 registrations were refused, want 7", refused)
	}
	return nil
}

// heldBodies holds requests open that never end, with a megabyte each.
func (a *abuse) heldBodies() error {
	count, size := a.scale(100, 5), a.scale(1<<20, 1<<14)
	piece := strings.Repeat(" ", size)
	head := fmt.Sprintf("POST /client-tools/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", 4*size)
	var all sync.WaitGroup
	errs := make([]error, count)
	refused := make([]bool, count)
	for i := range count {
		all.Go(func() { refused[i], errs[i] = a.hold(head + piece) })
	}
	all.Wait()
	turned := 0
	for _, was := range refused {
		if was {
			turned++
		}
	}
	if a.whole && turned < 36 {
		errs = append(errs, fmt.Errorf("%d of 100 bodies of a megabyte were refused, want 36 or more", turned))
	}
	return errors.Join(errs...)
}

// hold sends the beginning of a request, and reports whether it was soon refused.
func (a *abuse) hold(begun string) (refused bool, err error) {
	wait := time.Duration(a.scale(3000, 300)) * time.Millisecond
	c, err := net.Dial("tcp", strings.TrimPrefix(a.s.url, "http://"))
	if err != nil {
		return false, err
	}
	defer c.Close()
	if err := c.SetWriteDeadline(time.Now().Add(atMost)); err != nil {
		return false, err
	}
	if _, err := io.WriteString(c, begun); err != nil {
		return true, nil // the server has closed the connection
	}
	if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return false, err
	}
	answer := make([]byte, 12)
	if _, err := io.ReadFull(c, answer); err != nil {
		return !errors.Is(err, error(errTimeout(err))), nil
	}
	if string(answer) != "HTTP/1.1 503" {
		return false, fmt.Errorf("a held body is answered %q", answer)
	}
	return true, nil
}

// errTimeout returns a timeout unchanged, and replaces any other error.
func errTimeout(err error) error {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return err
	}
	return io.ErrClosedPipe
}

// issues sends bodies with millions of mistakes.
func (a *abuse) issues() error {
	zeros := strings.Repeat("0,", a.scale(10<<20, 1<<14)) + "0"
	most := strings.Repeat("0,", a.scale(999_990, 1<<14)) + "0"
	for _, tc := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/client-tools/register", `{"clientID":"a","tools":[` + zeros + `]}`, 429},
		{"DELETE", "/client-tools/unregister", `{"clientID":"a","toolIDs":[` + zeros + `]}`, a.scale(500, 400)}, // decision S51
		{"DELETE", "/client-tools/unregister", `{"clientID":"a","toolIDs":[` + most + `]}`, 400},
		{"POST", "/client-tools/register", `[` + most + `]`, 400},
		{"POST", "/agent/stop", `{"session_id":[` + strings.Repeat("0,", a.scale(1<<19, 1<<10)) + `0]}`, 422},
		{"POST", "/agent/stop", `{"session_id":"` + strings.Repeat("x", 1<<20) + `"}`, 404},
	} {
		status, size, err := a.send(tc.method, tc.path, tc.body)
		if err = errors.Join(err, oneOf(tc.path, status, tc.status)); err != nil {
			return err
		}
		if size > 128<<10 {
			return fmt.Errorf("%s: %d bytes are answered with %d", tc.path, len(tc.body), size)
		}
	}
	return nil
}

// repeatedKeys sends objects with duplicate keys, nested as deep as JSON may be.
func (a *abuse) repeatedKeys() error {
	deep := a.scale(8990, 1000)
	nested := strings.Repeat(`{"a":0,"a":`, deep) + "0" + strings.Repeat("}", deep)
	wide := `{` + strings.Repeat(`"a":`+strings.Repeat("[", 50)+strings.Repeat("]", 50)+`,`, a.scale(4000, 100)) + `"a":0}`
	for range a.scale(10, 1) {
		for _, parameters := range []string{nested, wide, `{"p":` + wide + `,"p":{"q":` + wide + `,"q":` + wide + `}}`} {
			status, _, err := a.send("POST", "/client-tools/register", `{"clientID":"c","tools":[{"id":"a","description":"","parameters":`+parameters+`}]}`)
			if err = errors.Join(err, oneOf("register", status, 200)); err != nil {
				return err
			}
		}
	}
	status, _, err := a.send("POST", "/agent/start", `{"working_dir":"/w","recipe":{"title":"T","description":"D","prompt":"P","response":{"json_schema":`+nested+`}}}`)
	return errors.Join(err, oneOf("a schema", status, 200, 400, 422))
}

// giantNumbers sends numbers with exponents that no program can write out.
func (a *abuse) giantNumbers() error {
	for _, number := range []string{"1e1000000", "1e-1000000", "1e999999999", "1" + strings.Repeat("0", a.scale(500_000, 5000))} {
		for _, schema := range []string{
			`{"type":"number","multipleOf":%s}`, `{"type":"number","maximum":%s}`, `{"enum":[%[1]s,%[1]s]}`, `{"type":"string","maxLength":%s}`, `{"const":%s,"default":%[1]s}`,
		} {
			recipe := `{"title":"T","description":"D","prompt":"P","response":{"json_schema":` + fmt.Sprintf(schema, number) + `}}`
			id, err := a.start(recipe)
			if err != nil || id == "" {
				return err
			}
			status, _, err := a.send("POST", "/agent/update_from_session", `{"session_id":"`+id+`"}`)
			if err = errors.Join(err, oneOf("update_from_session", status, 200, 500)); err != nil {
				return err
			}
		}
	}
	status, _, err := a.send("POST", "/client-tools/execute", `{"toolID":"x","timeout":1e1000000}`)
	return errors.Join(err, oneOf("execute", status, 400))
}

// start starts a session with a recipe and returns its ID, or "" if the recipe is refused.
func (a *abuse) start(recipe string) (id string, err error) {
	status, _, err := a.send("POST", "/agent/start", `{"working_dir":"/w","recipe":`+recipe+`}`)
	if err != nil || status != 200 {
		return "", errors.Join(err, oneOf("start", status, 400, 422))
	}
	all, err := a.api.do("GET", "/sessions", nil)
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(string(all), `"id":"`)
	id, _, _ = strings.Cut(rest, `"`)
	return id, nil
}

// templateBombs sends small recipes that render to huge texts, or take very long.
func (a *abuse) templateBombs() error {
	list := "[" + strings.Repeat("1,", 999) + "1]"
	loops := strings.Repeat("{% for x in "+list+" %}", 6) + strings.Repeat("{% endfor %}", 6)
	for _, template := range []string{
		loops,
		strings.Replace(loops, "{% endfor %}", "{{ x }}{% endfor %}", 1),
		"{{ " + strings.Repeat("1~", a.scale(200_000, 1000)) + "1 }}",
		"{{ " + strings.Repeat("(", a.scale(100_000, 1000)) + "1" + strings.Repeat(")", a.scale(100_000, 1000)) + " }}",
		"{{ v " + strings.Repeat(`| replace("x", "xxxxxxxxxx") `, 30) + "}}",
		`{{ (v ` + strings.Repeat(`~ v`, 1000) + `) | split("") | join(v) | split("") | join(v) | length }}`,
		strings.Repeat("{% if v %}", a.scale(20_000, 100)) + strings.Repeat("{% endif %}", a.scale(20_000, 100)),
	} {
		recipe := fmt.Sprintf(`{"title":"T","description":"D","prompt":"P","instructions":%q,"parameters":[{"key":"v","input_type":"string","requirement":"required","description":"V"}]}`, template)
		id, err := a.start(recipe)
		if err != nil {
			return err
		}
		if id == "" {
			continue
		}
		value := strings.Repeat("x", a.scale(100_000, 1000))
		status, _, err := a.send("PUT", "/sessions/"+id+"/user_recipe_values", `{"userRecipeValues":{"v":"`+value+`"}}`)
		if err = errors.Join(err, oneOf("user_recipe_values", status, 200, 400, 500)); err != nil {
			return fmt.Errorf("%.60s: %w", template, err)
		}
	}
	return nil
}

// readers opens streams and reads nothing from them while many events occur.
func (a *abuse) readers() error {
	var readers []net.Conn
	defer func() {
		for _, c := range readers {
			c.Close()
		}
	}()
	for range a.scale(1000, 20) {
		c, err := net.Dial("tcp", strings.TrimPrefix(a.s.url, "http://"))
		if err != nil {
			return err
		}
		readers = append(readers, c)
		if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			return err
		}
		if _, err := io.WriteString(c, "GET /event HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
	}
	if status, _, err := a.send("POST", "/client-tools/register", `{"clientID":"c","tools":[{"id":"a","description":"","parameters":{}}]}`); err != nil || status != 200 {
		return errors.Join(err, oneOf("register", status, 200))
	}
	input := strings.Repeat("x", 1<<20)
	for range a.scale(24, 2) {
		status, _, err := a.send("POST", "/client-tools/execute", `{"toolID":"client_c_a","timeout":1,"input":{"text":"`+input+`"}}`)
		if err = errors.Join(err, oneOf("execute", status, 504)); err != nil {
			return err
		}
	}
	return nil
}
