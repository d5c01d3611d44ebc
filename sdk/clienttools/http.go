package clienttools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const maxPlain = 200 // bytes of a message that is a plain text

// A StatusError is a response of the server other than 200.
type StatusError struct {
	Status  int
	Message string // the server's, else the name of the status
}

func (e *StatusError) Error() string { return fmt.Sprintf("%d: %s", e.Status, e.Message) }

// header returns the fields that every request has.
func (c *Client) header() http.Header {
	header := http.Header{}
	for name, values := range c.options.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	if c.options.SecretKey != "" {
		header.Set("X-Secret-Key", c.options.SecretKey)
	}
	return header
}

// do sends a request and returns a response that is 200. A request without a body is for a stream or a list.
func (c *Client) do(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		data, err := marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, err
	}
	request.Header = c.header()
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if path == "/reply" || strings.HasPrefix(path, "/client-tools/pending/") {
		request.Header.Set("Accept", "text/event-stream")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		data, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // enough for a message
		return nil, &StatusError{response.StatusCode, problem(response, data)}
	}
	return response, nil
}

// exchange sends a request that the server answers at once, and decodes the response unless out is nil.
func (c *Client) exchange(ctx context.Context, method, path string, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	response, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	if err := decode(response, out); err != nil {
		return fmt.Errorf("response to %s %s: %w", method, path, err)
	}
	return nil
}

// decode reads the whole body, so that the connection can be used again. If out is nil, the body may be anything.
func decode(response *http.Response, out any) error {
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxMessage+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxMessage:
		return errors.New("more than 16 MiB")
	case out == nil:
		return nil
	}
	return json.Unmarshal(data, out)
}

// problem returns the message in an error response, whichever of the forms of CT 2.5 and GA 2.7 it has.
func problem(response *http.Response, body []byte) string {
	m := members(body)
	for _, raw := range []json.RawMessage{m["error"], members(m["error"])["message"], members(m["data"])["message"], m["message"]} {
		if message, ok := text(raw); ok {
			return message
		}
	}
	var issues []struct {
		Path    []any
		Message string
	}
	if json.Unmarshal(m["error"], &issues) == nil && len(issues) > 0 {
		var path []string
		for _, element := range issues[0].Path {
			path = append(path, fmt.Sprint(element))
		}
		if len(path) == 0 {
			return issues[0].Message
		}
		return strings.Join(path, ".") + ": " + issues[0].Message
	}
	if plain := strings.TrimSpace(string(body)); m == nil && plain != "" && strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") {
		return plain[:min(len(plain), maxPlain)]
	}
	return http.StatusText(response.StatusCode)
}

// encode percent-encodes a client ID like encodeURIComponent, so that all client libraries request the same path.
func encode(id string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(id))
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// members returns the members of a JSON object, or nil. Unlike the fields of a struct, their names have case.
func members(data []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m
}

// text returns a JSON string.
func text(data []byte) (string, bool) {
	var s *string
	if json.Unmarshal(data, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}
