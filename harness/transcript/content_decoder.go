package transcript

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"math"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// decoders decode the codings. Opening one may read, and so may wait.
var decoders = map[string]func(io.Reader) (io.Reader, error){
	"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"deflate": deflated,
	"br":      func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	"zstd":    zstandard,
}

// deflated reads the zlib format, or raw deflate: "Some non-conformant implementations send the "deflate"
// compressed data without the zlib wrapper" (RFC 9110 §8.4.1.2).
func deflated(r io.Reader) (io.Reader, error) {
	in := r.(*bufio.Reader)
	head, err := in.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 { // RFC 1950 §2.2
		return zlib.NewReader(in)
	}
	return flate.NewReader(in), nil
}

// maxWindow is the largest window that a sender may use (RFC 9659 §3).
const maxWindow = 8 << 20

// zstandard decodes in the goroutine that calls Read.
func zstandard(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// A decoder decodes one coding. It opens the decoder at the first Read.
type decoder struct {
	in   *bufio.Reader
	open func(io.Reader) (io.Reader, error)
	out  io.Reader // nil until it is open
	left int64     // bytes until the limit
	err  error     // why there is no more
}

func newDecoder(r io.Reader, open func(io.Reader) (io.Reader, error), limit int64) *decoder {
	if limit <= 0 {
		limit = math.MaxInt64
	}
	return &decoder{in: bufio.NewReader(r), open: open, left: limit}
}

func (r *decoder) Read(p []byte) (n int, err error) {
	if r.err != nil || len(p) == 0 {
		return 0, r.err
	}
	if r.out == nil {
		if _, err = r.in.Peek(1); err == nil { // an empty body is valid in all codings
			r.out, err = r.open(r.in)
		}
	}
	if err == nil {
		n, err = r.out.Read(p)
	}
	if r.left -= int64(n); r.left < 0 {
		n, err = n+int(r.left), errTooLarge
	}
	switch {
	case err == io.ErrUnexpectedEOF:
		err = errCut
	case err == io.EOF:
		err = r.trailing()
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		err = errTooLarge
	}
	r.err = err
	return n, err
}

var (
	errCut      = errors.New("it ends too early")
	errTrailing = errors.New("more follows its end")
)

// trailing returns the error after the end. Not all decoders notice that more bytes follow.
func (r *decoder) trailing() error {
	if _, err := r.in.ReadByte(); err != nil {
		return err
	}
	return errTrailing
}
