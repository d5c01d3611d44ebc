package websocket

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/httpapi/response"
)

// Handshake is the middleware of an operation that opens a socket. It refuses a request that is not a correct
// handshake (decision S15). It sets the header fields of the response to one that is.
func Handshake(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, h := c.Request(), c.Response().Header()
		switch key := r.Header.Values("Sec-Websocket-Key"); {
		case r.Method != http.MethodGet, !r.ProtoAtLeast(1, 1), !lists(r.Header.Values("Connection"), "upgrade"), !lists(r.Header.Values("Upgrade"), "websocket"):
			h.Set("Upgrade", "websocket")
			return response.Empty{Status: http.StatusUpgradeRequired}.Write(c.Response())
		case strings.Join(r.Header.Values("Sec-Websocket-Version"), ",") != "13":
			h.Set("Upgrade", "websocket")
			h.Set("Sec-WebSocket-Version", "13")
			return response.Empty{Status: http.StatusUpgradeRequired}.Write(c.Response())
		case len(key) != 1 || !isKey(key[0]):
			return response.Empty{Status: http.StatusBadRequest}.Write(c.Response())
		default:
			h.Set("Upgrade", "websocket")
			h.Set("Connection", "Upgrade")
			h.Set("Sec-WebSocket-Accept", accept(key[0]))
			return next(c)
		}
	}
}

// lists reports whether a list of tokens has one, in any case.
func lists(values []string, token string) bool {
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.Trim(item, " \t"), token) {
				return true
			}
		}
	}
	return false
}

// isKey reports whether a text is the Base64 of 16 bytes.
func isKey(text string) bool {
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	return err == nil && len(decoded) == 16 && !strings.ContainsAny(text, "\r\n")
}

// accept returns the value of Sec-WebSocket-Accept (RFC 6455 §4.2.2).
func accept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// hijack takes over the connection of a request, and sends the head with status 101. Bytes that have arrived already
// are in the reader.
func hijack(w http.ResponseWriter) (net.Conn, io.Reader, error) {
	h := w.Header().Clone()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil, fmt.Errorf("take over the connection: %w", err)
	}
	// net/http's reader must not be used any longer, but may have bytes.
	early, _ := buffered.Reader.Peek(buffered.Reader.Buffered())
	in := io.MultiReader(bytes.NewReader(bytes.Clone(early)), conn)
	head := bufio.NewWriter(conn)
	_, _ = head.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	_ = h.Write(head)
	_, _ = head.WriteString("\r\n")
	if err := head.Flush(); err != nil { // it has the error of every write before
		conn.Close()
		return nil, nil, err
	}
	if response, ok := w.(*echo.Response); ok {
		response.Status, response.Committed = http.StatusSwitchingProtocols, true
	}
	return conn, in, nil
}
