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

// Limits bound what reading a body can cost.
type Limits struct {
	MaxBytes int64
	// Grace is how long a body may come as slowly as it likes. From then on it must have come at minRate since its head
	// (decision S41).
	Grace time.Duration
	// Stall is how long nothing may come of a body.
	Stall time.Duration
	// InFlight is what the bodies of all requests share; they share nothing if nil.
	InFlight *InFlight
	// Brief says that the request may take long after its body has been read, and no longer counts then.
	Brief bool
}

// minRate is how many bytes a second must come of a body.
const minRate = 1024

// Refusals are what an operation answers to a body that it does not take.
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

// refuse answers a body that was not read to its end. What is left of it is read behind the answer. Other errors than
// those that have a refusal are returned.
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

// read reads the whole body. Its error is one that has a refusal, or an [echo.HTTPError] for a body that does not arrive.
// The bytes count until they are released, which must happen in any case.
func read(w http.ResponseWriter, r *http.Request, limits Limits) (raw []byte, release func(), err error) {
	share := limits.InFlight.share()
	if r.ContentLength > limits.MaxBytes {
		return nil, share.release, errTooLarge
	}
	if r.Body == nil || r.Body == http.NoBody {
		return nil, share.release, nil
	}
	in := &paced{body: r.Body, w: w, limits: limits, began: time.Now(), share: share}
	raw, err = in.all()
	switch {
	case err == errTooLarge || err == errBusy:
		return nil, share.release, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, share.release, errTooSlow
	case err != nil:
		w.Header().Set("Connection", "close") // where the next request begins is not known
		return nil, share.release, echo.NewHTTPError(http.StatusBadRequest).SetInternal(fmt.Errorf("read body: %w", err))
	}
	// A deadline that stayed would end the wait for a result, which goes on reading to notice that the caller has gone.
	setReadDeadline(w, time.Time{})
	return raw, share.release, nil
}

// A paced body must come fast enough.
type paced struct {
	body   io.Reader
	w      http.ResponseWriter
	limits Limits
	began  time.Time
	came   int64
	share  *share
}

// The sizes of the pieces in which a body is read. They are put together at its end, so that a body that never ends has
// hardly more memory than what has come of it.
const (
	firstPiece   = 4 << 10
	largestPiece = 256 << 10
)

func (p *paced) all() ([]byte, error) {
	var pieces [][]byte
	for {
		size := max(firstPiece, min(p.came, largestPiece))
		piece := make([]byte, min(size, p.limits.MaxBytes-p.came+1)) // one byte beyond the limit is enough to see it
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

// fill fills a piece, or returns why it could not.
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
		if !p.share.take(int64(m)) {
			return n, errBusy
		}
	}
	return n, err
}

// deadline returns by when more must have come.
func (p *paced) deadline(now time.Time) time.Time {
	due := p.began.Add(max(p.limits.Grace, time.Duration(p.came)*time.Second/minRate))
	if stalled := now.Add(p.limits.Stall); stalled.Before(due) {
		return stalled
	}
	return due
}

// setReadDeadline does nothing where there are no deadlines: such a body, in a test, does not stall either.
func setReadDeadline(w http.ResponseWriter, t time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(t)
}
