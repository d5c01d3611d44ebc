package transcript

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"
	"unicode/utf8"
)

// Format is the version of the run file's format. It changes when a reader of the old format would misread the new one.
const Format = 1

// A RunHeader is the first line of a run file. It says what was run.
type RunHeader struct {
	Format    int         `json:"format"`
	Version   string      `json:"version"` // version of lockstep
	Started   time.Time   `json:"started"`
	Seed      uint64      `json:"seed"`
	Contract  string      `json:"contract"`  // SHA-256 of the contract
	Scenarios string      `json:"scenarios"` // SHA-256 of the scenarios' files, in order
	Rules     string      `json:"rules"`     // SHA-256 of lockstep.yaml
	Jobs      int         `json:"jobs"`      // scenarios that ran at the same time
	Targets   []RunTarget `json:"targets"`   // the reference first
	// Shard is set when the file is one of several parts of a run.
	Shard *RunShard `json:"shard,omitempty"`
	// Repeat is how often each scenario ran, if more than once.
	Repeat int `json:"repeat,omitempty"`
	// Confirm is how often each scenario that was red ran again.
	Confirm int `json:"confirm,omitempty"`
	// AllowEmpty means that a run in which nothing was judged is a match.
	AllowEmpty bool `json:"allow_empty,omitempty"`
	// Recording is set when the file has the transcripts of a reference, to judge candidates without it.
	Recording *Recording `json:"recording,omitempty"`
}

// A Recording describes a recorded reference, and all settings that decide what was sent to it and what was kept. When
// one of them has changed, the recording is stale.
type Recording struct {
	Version string `json:"version,omitempty"` // as the project or a flag states it
	// Settings has a checksum of each part of lockstep.yaml that decides what the reference is and what is kept of its
	// responses. The key is the name in the file: "targets.old.command". A missing part has no checksum.
	Settings map[string]string `json:"settings"`
	Limits   Limits            `json:"limits"`
	// Scenarios has a checksum of each scenario's file, by id. It is empty in a shard.
	Scenarios map[string]string `json:"scenarios,omitempty"`
}

type Limits struct {
	Step     time.Duration `json:"step"`
	Scenario time.Duration `json:"scenario"`
	Settle   time.Duration `json:"settle"`
	Body     int64         `json:"body"`
	Events   int           `json:"events"`
}

// A RunShard says which part of a run a file is.
type RunShard struct {
	Index int `json:"index"` // from 1
	Of    int `json:"of"`
	// Selection has the ids of all scenarios of the run, in all parts, in their order.
	Selection []string `json:"selection"`
	// Reference is the Recording against which the run was judged; nil when the reference itself was running.
	Reference *Recording `json:"reference,omitempty"`
}

// A RunTarget is a target of a run.
type RunTarget struct {
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"` // as the project states it
	Reference bool   `json:"reference,omitempty"`
}

// A RunFooter is the last line of a run file. A file without it was cut off.
type RunFooter struct {
	Transcripts int           `json:"transcripts"`
	Bodies      int           `json:"bodies"`
	SHA256      string        `json:"sha256"` // checksum of every byte before this line
	Took        time.Duration `json:"took"`
	// NotApplicable has the scenarios that could not run, in the order in which that was noticed.
	NotApplicable []NotApplicable `json:"not_applicable,omitempty"`
	// OwnerUnchecked says, by target, why it is unknown whether the target's own process owned its port.
	OwnerUnchecked map[string]string `json:"owner_unchecked,omitempty"`
}

// NotApplicable is a scenario without transcripts, and the reason.
type NotApplicable struct {
	Scenario string `json:"scenario"`
	Why      string `json:"why"`
}

// fits reports whether a footer agrees with what was read.
func (f *RunFooter) fits(read *RunFooter) bool {
	return f.Transcripts == read.Transcripts && f.Bodies == read.Bodies && f.SHA256 == read.SHA256
}

// A line is one line of a run file: a header, a body, a transcript or a footer.
type line struct {
	Header     *RunHeader  `json:"lockstep,omitempty"`
	Body       *storedBody `json:"body,omitempty"`
	Transcript *Transcript `json:"transcript,omitempty"`
	// Texts are the texts of the transcript that are not UTF-8, by their JSON Pointers.
	Texts  map[string][]byte `json:"texts,omitempty"`
	Footer *RunFooter        `json:"footer,omitempty"`
}

// A storedBody is the content of a body. Equal contents are written once.
type storedBody struct {
	ID     string  `json:"id"`
	Text   *string `json:"text,omitempty"` // set when the content is UTF-8
	Base64 []byte  `json:"base64,omitempty"`
}

// A bodyRef is a Body in the line of a transcript.
type bodyRef struct {
	ID       string    `json:"id"`
	Size     int64     `json:"size"`
	Fill     *Fill     `json:"fill,omitempty"`
	Sent     int64     `json:"sent,omitempty"`
	Withheld *Withheld `json:"withheld,omitempty"`
}

// MarshalJSON writes a reference to the body's content.
func (b Body) MarshalJSON() ([]byte, error) {
	return json.Marshal(bodyRef{b.id(), b.Size, b.Fill, b.Sent, b.Withheld})
}

// UnmarshalJSON reads a reference. ReadRun adds the content.
func (b *Body) UnmarshalJSON(data []byte) error {
	var ref bodyRef
	if err := json.Unmarshal(data, &ref); err != nil {
		return err
	}
	b.Size, b.Fill, b.Sent, b.Withheld, b.ref = ref.Size, ref.Fill, ref.Sent, ref.Withheld, ref.ID
	return nil
}

// A contentSum identifies a content: half of its SHA-256.
type contentSum [16]byte

func (b Body) sum() contentSum {
	sum := sha256.Sum256(b.Bytes)
	return contentSum(sum[:16])
}

// id is the id of the content in the file.
func (b Body) id() string { return b.sum().id() }

func (s contentSum) id() string { return hex.EncodeToString(s[:]) }

// bodies calls f with every body of the transcript.
func (t *Transcript) bodies(f func(*Body)) {
	for s := range t.AllSteps() {
		for _, x := range s.Exchanges {
			f(&x.Request.Body)
			if x.Response != nil {
				f(&x.Response.Body)
			}
		}
	}
}

// A RunWriter writes a run file. It is not safe for concurrent use.
type RunWriter struct {
	w      *bufio.Writer
	sum    hash.Hash
	seen   map[contentSum]bool
	footer RunFooter
}

// NewRunWriter writes the header and returns a writer for transcripts.
func NewRunWriter(w io.Writer, h RunHeader) (*RunWriter, error) {
	h.Format = Format
	rw := &RunWriter{w: bufio.NewWriterSize(w, 64<<10), sum: sha256.New(), seen: map[contentSum]bool{}}
	return rw, rw.write(line{Header: &h})
}

func (rw *RunWriter) write(l line) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return fmt.Errorf("write run file: %w", err)
	}
	rw.sum.Write(b.Bytes())
	if _, err := rw.w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write run file: %w", err)
	}
	return nil
}

// Write appends a transcript, preceded by those of its bodies that the file does not have yet. It flushes, so an
// interrupted run keeps all transcripts until then.
func (rw *RunWriter) Write(t *Transcript) error {
	var failed error
	t.bodies(func(b *Body) {
		if b.IsZero() || failed != nil {
			return
		}
		sum := b.sum()
		if rw.seen[sum] {
			return
		}
		rw.seen[sum] = true
		rw.footer.Bodies++
		stored := storedBody{ID: sum.id()}
		if utf8.Valid(b.Bytes) {
			text := string(b.Bytes)
			stored.Text = &text
		} else {
			stored.Base64 = b.Bytes
		}
		failed = rw.write(line{Body: &stored})
	})
	if failed != nil {
		return failed
	}
	rw.footer.Transcripts++
	if err := rw.write(line{Transcript: t, Texts: nonUTF8Texts(t)}); err != nil {
		return err
	}
	return rw.flush()
}

// OwnerUnchecked records the targets for which it is unknown whether their own process owned the port, and why.
func (rw *RunWriter) OwnerUnchecked(why map[string]string) { rw.footer.OwnerUnchecked = why }

// NotApplicable records a scenario that has no transcripts.
func (rw *RunWriter) NotApplicable(scenario, why string) {
	rw.footer.NotApplicable = append(rw.footer.NotApplicable, NotApplicable{scenario, why})
}

// Close writes the footer with the duration of the run. The caller closes the file.
func (rw *RunWriter) Close(took time.Duration) error {
	rw.footer.Took = took
	rw.footer.SHA256 = hex.EncodeToString(rw.sum.Sum(nil))
	if err := rw.write(line{Footer: &rw.footer}); err != nil {
		return err
	}
	return rw.flush()
}

func (rw *RunWriter) flush() error {
	if err := rw.w.Flush(); err != nil {
		return fmt.Errorf("write run file: %w", err)
	}
	return nil
}

// ErrIncomplete is returned by ReadRun for a file whose footer is missing or does not agree with its lines.
var ErrIncomplete = errors.New("run file is incomplete")

// ReadRun reads a run file. It calls header with the file's header, unless header is nil, and each with one transcript
// after the other. It returns the footer. Do not trust the transcripts until ReadRun has returned without an error,
// because the footer comes last.
func ReadRun(r io.Reader, header func(RunHeader) error, each func(*Transcript) error) (*RunFooter, error) {
	rr := runReader{sum: sha256.New(), bodies: map[string][]byte{}}
	in := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil, fmt.Errorf("%w: no footer after line %d", ErrIncomplete, n-1)
		}
		if err != nil {
			return nil, fmt.Errorf("read run file: %w", err)
		}
		footer, err := rr.line(text, n == 1, header, each)
		if err != nil {
			return nil, fmt.Errorf("read run file: line %d: %w", n, err)
		}
		if footer == nil {
			continue
		}
		if _, err := in.Peek(1); err != io.EOF { // a second run in the file would not be judged
			return nil, fmt.Errorf("read run file: there is more after its last line, %d: a file has one run, and lockstep merge joins shards", n)
		}
		return footer, nil
	}
}

type runReader struct {
	sum    hash.Hash
	bodies map[string][]byte
	got    RunFooter
}

// line reads a line. It returns the footer if the line is one.
func (rr *runReader) line(text []byte, first bool, header func(RunHeader) error, each func(*Transcript) error) (*RunFooter, error) {
	if id, content, ok := fastBody(text); ok && !first {
		rr.body(id, content)
		rr.sum.Write(text)
		return nil, nil
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, err
	}
	if first != (l.Header != nil) {
		return nil, errors.New("a run file begins with one header")
	}
	var err error
	switch {
	case l.Header != nil:
		if l.Header.Format != Format {
			return nil, fmt.Errorf("format %d; this version of lockstep reads format %d", l.Header.Format, Format)
		}
		if header != nil {
			err = header(*l.Header)
		}
	case l.Body != nil:
		content := l.Body.Base64
		if l.Body.Text != nil {
			content = []byte(*l.Body.Text)
		}
		rr.body(l.Body.ID, content)
	case l.Transcript != nil:
		if err = rr.complete(l.Transcript, l.Texts); err == nil {
			err = each(l.Transcript)
		}
	case l.Footer != nil:
		rr.got.SHA256 = hex.EncodeToString(rr.sum.Sum(nil))
		if !l.Footer.fits(&rr.got) {
			return nil, fmt.Errorf("%w: its footer does not fit what is before it", ErrIncomplete)
		}
		return l.Footer, nil
	default:
		return nil, errors.New("neither a body nor a transcript")
	}
	rr.sum.Write(text)
	return nil, err
}

// complete adds to a transcript what its line does not contain.
func (rr *runReader) complete(t *Transcript, texts map[string][]byte) error {
	rr.got.Transcripts++
	if err := t.checkNoNull(); err != nil {
		return err
	}
	if err := restoreTexts(t, texts); err != nil {
		return err
	}
	return rr.fill(t)
}

func (rr *runReader) body(id string, content []byte) {
	rr.bodies[id] = content
	rr.got.Bodies++
}

// checkNoNull returns an error when an exchange or a stream is null, which RunWriter never writes.
func (t *Transcript) checkNoNull() error {
	for s := range t.AllSteps() {
		if slices.Contains(s.Exchanges, nil) {
			return fmt.Errorf("step %s of %s has an exchange that is null", s.ID, t.Scenario)
		}
	}
	if slices.Contains(t.Streams, nil) {
		return fmt.Errorf("%s has a stream that is null", t.Scenario)
	}
	return nil
}

// fill adds the contents to the bodies of a transcript.
func (rr *runReader) fill(t *Transcript) (err error) {
	t.bodies(func(b *Body) {
		if b.IsZero() {
			return
		}
		content, ok := rr.bodies[b.ref]
		if !ok {
			err = fmt.Errorf("body %s is not in the file", b.ref)
		}
		if f := b.Fill; f != nil && (f.At < 0 || f.At > len(content) || f.Times < 0) {
			err = fmt.Errorf("body %s is filled where it has no byte", b.ref)
		}
		b.Bytes, b.ref = content, ""
	})
	return err
}
