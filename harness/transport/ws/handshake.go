package ws

import (
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/transport/httpwire"
)

// The header fields of the handshake (RFC 6455 §11.3).
const (
	fieldKey        = "Sec-WebSocket-Key"
	fieldVersion    = "Sec-WebSocket-Version"
	fieldAccept     = "Sec-WebSocket-Accept"
	fieldProtocol   = "Sec-WebSocket-Protocol"
	fieldExtensions = "Sec-WebSocket-Extensions"
)

// handshake returns a copy of a request with the fields of the opening handshake (§4.1) that it lacks.
func handshake(req *httpwire.Request, opts *Options) *httpwire.Request {
	out := *req
	out.Header = slices.Clone(req.Header)
	add := func(name, value string) {
		if !req.Header.Has(name) && !transcript.ContainsName(opts.Without, name) {
			out.Header = append(out.Header, transcript.Field{Name: name, Value: value})
		}
	}
	// "The value of this header field MUST be a nonce consisting of a randomly selected 16-byte value that has been
	// base64-encoded"
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	add("Upgrade", "websocket")
	add("Connection", "Upgrade")
	add(fieldVersion, "13")
	add(fieldKey, base64.StdEncoding.EncodeToString(nonce[:]))
	if len(opts.Subprotocols) > 0 {
		add(fieldProtocol, strings.Join(opts.Subprotocols, ", "))
	}
	return &out
}

// checkHandshake returns an error for a 101 response after which a client must fail the connection. It applies the
// rules of §4.1 in their order.
func checkHandshake(ex *transcript.Exchange) error {
	sent, got := ex.Request.Header, ex.Response.Header
	if values := got.Values("Upgrade"); len(values) != 1 || !strings.EqualFold(values[0], "websocket") {
		return fmt.Errorf("101 with the Upgrade %s, want websocket (RFC 6455 §4.1)", quoteAll(values))
	}
	if !got.HasElement("Connection", "Upgrade") {
		return fmt.Errorf("101 with the Connection %s, want Upgrade (RFC 6455 §4.1)", quoteAll(got.Values("Connection")))
	}
	key, _ := sent.Get(fieldKey)
	if values, want := got.Values(fieldAccept), acceptOf(key); len(values) != 1 || values[0] != want {
		return fmt.Errorf("101 with the %s %s, want %q, which belongs to the key %q (RFC 6455 §4.1)", fieldAccept, quoteAll(values), want, key)
	}
	// "If this header field […] indicates the use of an extension that was not present in the client's handshake […],
	// the client MUST _Fail the WebSocket Connection_."
	offered := extensionNames(sent)
	for _, name := range extensionNames(got) {
		if !slices.Contains(offered, name) {
			return fmt.Errorf("101 with the extension %q, which was not offered (RFC 6455 §4.1)", name)
		}
	}
	// The same holds for a subprotocol. "The |Sec-WebSocket-Protocol| header field MUST NOT appear more than once in an
	// HTTP response" (§11.3.4).
	switch values := got.Values(fieldProtocol); {
	case len(values) > 1:
		return fmt.Errorf("101 with several subprotocols %s (RFC 6455 §11.3.4)", quoteAll(values))
	case len(values) == 1 && !slices.Contains(sent.Elements(fieldProtocol), values[0]):
		return fmt.Errorf("101 with the subprotocol %q, which was not offered (RFC 6455 §4.1)", values[0])
	}
	return nil
}

// CheckRequest returns an error for a request that is not a valid opening handshake, after which a server must not open a
// socket. It applies the rules of §4.1 in their order.
func CheckRequest(r *transcript.Request) error {
	h := r.Header
	switch {
	case r.Method != "GET":
		return fmt.Errorf("the opening handshake has the method %s, want GET (RFC 6455 §4.1)", r.Method)
	case !h.HasElement("Upgrade", "websocket"):
		return fmt.Errorf("the opening handshake has the Upgrade %s, want websocket (RFC 6455 §4.1)", quoteAll(h.Values("Upgrade")))
	case !h.HasElement("Connection", "Upgrade"):
		return fmt.Errorf("the opening handshake has the Connection %s, want Upgrade (RFC 6455 §4.1)", quoteAll(h.Values("Connection")))
	}
	key := h.Values(fieldKey)
	if len(key) != 1 || !isNonce(key[0]) {
		return fmt.Errorf("the opening handshake has the %s %s, want one with 16 bytes in Base64 (RFC 6455 §4.1)", fieldKey, quoteAll(key))
	}
	if version := h.Values(fieldVersion); len(version) != 1 || version[0] != "13" {
		return fmt.Errorf("the opening handshake has the %s %s, want 13 (RFC 6455 §4.1)", fieldVersion, quoteAll(version))
	}
	return nil
}

func isNonce(key string) bool {
	b, err := base64.StdEncoding.DecodeString(key)
	return err == nil && len(b) == 16
}

// ResponseHeader returns the fields that accept a valid opening handshake (§4.2.2).
func ResponseHeader(r *transcript.Request) transcript.Header {
	key, _ := r.Header.Get(fieldKey)
	return transcript.Header{{Name: "Upgrade", Value: "websocket"}, {Name: "Connection", Value: "Upgrade"}, {Name: fieldAccept, Value: acceptOf(key)}}
}

// acceptOf returns the Sec-WebSocket-Accept for a key (§4.2.2).
func acceptOf(key string) string {
	sum := sha1.Sum([]byte(strings.TrimSpace(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// extensionNames returns the names in a Sec-WebSocket-Extensions, without their parameters. A quoted parameter could
// contain a comma, but it must be a token (§9.1).
func extensionNames(h transcript.Header) []string {
	var names []string
	for _, e := range h.Elements(fieldExtensions) {
		name, _, _ := strings.Cut(e, ";")
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// quoteAll quotes the values of a field, because it is not safe to print what the other side sent.
func quoteAll(values []string) string {
	const maxQuoted = 200
	if len(values) == 0 {
		return "missing"
	}
	all := strings.Join(values, ", ")
	if len(all) > maxQuoted {
		return fmt.Sprintf("%q…", all[:maxQuoted])
	}
	return fmt.Sprintf("%q", all)
}
