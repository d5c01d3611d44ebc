package body

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/lockstep-dev/lockstep/server/httpapi/response"
)

// Limits limit the cost of reading a body.
type Limits struct {
	MaxBytes int64
	// Grace is how long a body may arrive at any speed. After that, its average rate since the head must be at least
	// minRate (decision S41).
	Grace time.Duration
	// Stall is how long nothing may arrive.
	Stall time.Duration
	// InFlight is the shared limit for the bodies of all requests. Nil means no limit.
	InFlight *InFlight
	// Brief means that the request may run long after its body was read. The body then no longer counts towards
	// InFlight.
	Brief bool
}

// minRate is the minimum number of bytes per second.
const minRate = 1024

// Refusals are an operation's answers to bodies that were not read completely.
type Refusals struct {
	TooLarge response.Writer // decision S6
	TooSlow  response.Writer // decision S41
	Busy     response.Writer // decision S40
}

var (
	errTooLarge = errors.New("the body is too large")
	errTooSlow  = errors.New("the body comes too slowly")
	errBusy     = errors.New("the bodies of all requests are too large together")
)

// refuse answers a body that was not read completely. The rest of it is read after the answer. Errors without a
// refusal are returned.
func (r Refusals) refuse(c echo.Context, err error) error {
	refusal := map[error]response.Writer{errTooLarge: r.TooLarge, errTooSlow: r.TooSlow, errBusy: r.Busy}[err]
	if refusal == nil {
		return err
	}
	c.Response().Header().Set("Connection", "close")
	if err == errBusy {
		c.Response().Header().Set("Retry-After", "1")
	}
	return refusal.Write(c.Response())
}

// read reads the whole body. Its error has a refusal, or is an [echo.HTTPError] for a body that does not arrive. The
// bytes count towards the shared limit until release is called, which the caller must always do.
func read(w http.ResponseWriter, r *http.Request, limits Limits) (raw []byte, release func(), err error) {
	share := limits.InFlight.Share()
	if r.ContentLength > limits.MaxBytes {
		return nil, share.Release, errTooLarge
	}
	if r.Body == nil || r.Body == http.NoBody {
		return nil, share.Release, nil
	}
	in := &paced{body: r.Body, w: w, limits: limits, began: time.Now(), share: share}
	raw, err = in.all()
	switch {
	case err == errTooLarge || err == errBusy:
		return nil, share.Release, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, share.Release, errTooSlow
	case err != nil:
		w.Header().Set("Connection", "close") // where the next request begins is unknown
		return nil, share.Release, echo.NewHTTPError(http.StatusBadRequest).SetInternal(fmt.Errorf("read body: %w", err))
	}
	// A remaining deadline would end the wait for a result, during which the connection is read to notice that the
	// caller has left.
	setReadDeadline(w, time.Time{})
	return raw, share.Release, nil
}

// A paced body must arrive fast enough.
type paced struct {
	body   io.Reader
	w      http.ResponseWriter
	limits Limits
	began  time.Time
	came   int64
	share  *Share
}

// These are the sizes of the pieces in which a body is read. They are joined at the end, so that a body that never
// ends takes hardly more memory than what has arrived.
const (
	firstPiece   = 4 << 10
	largestPiece = 256 << 10
)

func (p *paced) all() ([]byte, error) {
	var pieces [][]byte
	for {
		size := max(firstPiece, min(p.came, largestPiece))
		piece := make([]byte, min(size, p.limits.MaxBytes-p.came+1)) // one byte more shows that it is too large
		n, err := p.fill(piece)
		pieces = append(pieces, piece[:n])
		if err == io.EOF {
			return joined(pieces), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func joined(pieces [][]byte) []byte {
	if len(pieces) == 1 {
		return pieces[0]
	}
	return bytes.Join(pieces, nil)
}

// fill fills a piece, or returns why it cannot.
func (p *paced) fill(piece []byte) (n int, err error) {
	for n < len(piece) && err == nil {
		var m int
		setReadDeadline(p.w, p.deadline(time.Now()))
		m, err = p.body.Read(piece[n:])
		n += m
		p.came += int64(m)
		if p.came > p.limits.MaxBytes {
			return n, errTooLarge
		}
		if !p.share.Take(int64(m)) {
			return n, errBusy
		}
	}
	return n, err
}

// deadline returns the time by which more must have arrived.
func (p *paced) deadline(now time.Time) time.Time {
	due := p.began.Add(max(p.limits.Grace, time.Duration(p.came)*time.Second/minRate))
	if stalled := now.Add(p.limits.Stall); stalled.Before(due) {
		return stalled
	}
	return due
}

// setReadDeadline ignores errors, because bodies without deadlines, in tests, do not stall either.
func setReadDeadline(w http.ResponseWriter, t time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(t)
}
