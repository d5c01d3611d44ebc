package keyring

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// These limit what a bus may send. The specification of D-Bus allows messages of 128 MiB.
const (
	maxMessage   = 16 << 20
	maxHandshake = 64 << 10
	headSize     = 16 // of the part of a message that has its sizes
)

var (
	errTooLarge = errors.New("the bus sent a message of more than 16 MiB")
	errNotDBus  = errors.New("the bus sent something that is not D-Bus")
)

// A bounded is a connection that fails when the peer sends more than it may, or does not read for too long. Its bytes
// are lines of the authentication up to BEGIN, and then messages.
type bounded struct {
	net.Conn
	patience time.Duration // of a write

	mu    sync.Mutex // guards begun: reads and writes are concurrent
	begun bool

	lines int    // the bytes of the authentication
	head  []byte // the unread rest of the head of a message
	body  int64  // the size of the unread rest of a message
}

func (b *bounded) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte("BEGIN")) {
		b.mu.Lock()
		b.begun = true
		b.mu.Unlock()
	}
	if err := b.SetWriteDeadline(time.Now().Add(b.patience)); err != nil {
		return 0, err
	}
	return b.Conn.Write(p)
}

func (b *bounded) Read(p []byte) (int, error) {
	b.mu.Lock()
	begun := b.begun
	b.mu.Unlock()
	if !begun {
		n, err := b.Conn.Read(p)
		if b.lines += n; b.lines > maxHandshake {
			return 0, errNotDBus
		}
		return n, err
	}
	if len(b.head) == 0 && b.body == 0 {
		if err := b.next(); err != nil {
			return 0, err
		}
	}
	if len(b.head) > 0 {
		n := copy(p, b.head)
		b.head = b.head[n:]
		return n, nil
	}
	n, err := b.Conn.Read(p[:min(int64(len(p)), b.body)])
	b.body -= int64(n)
	return n, err
}

// next reads the head of a message.
func (b *bounded) next() error {
	head := make([]byte, headSize)
	if _, err := io.ReadFull(b.Conn, head); err != nil {
		return err
	}
	order := binary.ByteOrder(binary.LittleEndian)
	switch head[0] {
	case 'l':
	case 'B':
		order = binary.BigEndian
	default:
		return errNotDBus
	}
	fields := (int64(order.Uint32(head[12:])) + 7) / 8 * 8 // they are padded
	b.head, b.body = head, fields+int64(order.Uint32(head[4:]))
	if b.body > maxMessage-headSize {
		return errTooLarge
	}
	return nil
}
