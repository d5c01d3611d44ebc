package chat

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A handshake is the response to a request for a socket, before it is written.
type handshake struct {
	request  http.Header
	name     string // of the member
	status   int
	why      string // of a refusal
	header   [][2]string
	protocol string
	cut      bool // a fault closes the connection after the head
}

// protocols are the subprotocols of the server, the best one first.
var protocols = []string{"chat.v2", "chat.v1"}

// handshake answers a request for a socket (RFC 6455 §4.2.2).
func (s *Server) handshake(r *http.Request, room string) *handshake {
	h := &handshake{name: r.URL.Query().Get("name"), request: r.Header}
	key, version := r.Header.Get("Sec-WebSocket-Key"), r.Header.Get("Sec-WebSocket-Version")
	switch {
	case key == "":
		h.refuse(http.StatusUpgradeRequired, "this is a socket")
		h.set("Upgrade", "websocket")
	case version != "13":
		h.refuse(http.StatusUpgradeRequired, "the version is 13")
		h.set("Sec-WebSocket-Version", "13")
	case h.name == "":
		h.refuse(http.StatusBadRequest, "a member has a name")
	case r.Header.Get("X-Key") == "wrong":
		h.refuse(http.StatusUnauthorized, "the key is wrong")
	case room == "closed":
		h.refuse(http.StatusForbidden, "the room is closed")
	case room == "gone":
		h.refuse(http.StatusNotFound, "there is no such room")
	default:
		h.accept()
	}
	return h
}

// accept makes the response one that opens the socket.
func (h *handshake) accept() {
	h.status, h.header = http.StatusSwitchingProtocols, nil
	sum := sha1.Sum([]byte(h.request.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	h.set("Upgrade", "websocket")
	h.set("Connection", "Upgrade")
	h.set("Sec-WebSocket-Accept", base64.StdEncoding.EncodeToString(sum[:]))
	h.choose(h.request.Values("Sec-WebSocket-Protocol"))
}

func (h *handshake) refuse(status int, why string) { h.status, h.why, h.header = status, why, nil }

// choose chooses the best of the offered subprotocols.
func (h *handshake) choose(offered []string) {
	all := strings.Split(strings.ReplaceAll(strings.Join(offered, ","), " ", ""), ",")
	if i := slices.IndexFunc(protocols, func(p string) bool { return slices.Contains(all, p) }); i >= 0 {
		h.protocol = protocols[i]
		h.set("Sec-WebSocket-Protocol", h.protocol)
	}
}

// set replaces a header field. An empty value removes it.
func (h *handshake) set(name, value string) {
	h.header = slices.DeleteFunc(h.header, func(f [2]string) bool { return f[0] == name })
	if value != "" {
		h.header = append(h.header, [2]string{name, value})
	}
}

// bytes returns the response as it is written.
func (h *handshake) bytes(s *Server) []byte {
	fields, phrase := slices.Clone(h.header), http.StatusText(h.status)
	var body []byte
	if h.status != http.StatusSwitchingProtocols {
		body = s.text.JSON(object{"error": h.why})
		fields = append(fields,
			[2]string{"Content-Type", "application/json"}, [2]string{"Content-Length", fmt.Sprint(len(body))}, [2]string{"Connection", "close"})
	}
	style := s.Style
	if style.ExtraHeader {
		fields = append(fields, [2]string{"X-Served-By", "chat"})
	}
	if style.HeaderOrder {
		slices.Reverse(fields)
	}
	if style.Phrase {
		phrase = "As You Like It"
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", h.status, phrase)
	for _, f := range fields {
		if style.HeaderCase {
			f[0] = strings.ToUpper(f[0])
		}
		if other, ok := otherTokens[f[1]]; ok && style.Tokens {
			f[1] = other
		}
		fmt.Fprintf(&out, "%s: %s\r\n", f[0], f[1])
	}
	out.WriteString("\r\n")
	out.Write(body)
	return out.Bytes()
}

// otherTokens are other forms of the values of Upgrade and Connection.
var otherTokens = map[string]string{"websocket": "WebSocket", "Upgrade": "keep-alive, upgrade"}
