package jsonwire

import "strconv"

// A Writer writes JSON piece by piece, and inserts commas. It does not check that the pieces form a value. The zero
// Writer is empty.
type Writer struct {
	buf   []byte
	start int // the length of dst, which was there before
}

// NewWriter returns a writer that appends to dst.
func NewWriter(dst []byte) *Writer { return &Writer{dst, len(dst)} }

// Of returns the JSON that a value writes.
func Of(value interface{ Write(w *Writer) }) Text {
	w := NewWriter(nil)
	value.Write(w)
	return w.Text()
}

// Text returns everything that was written, after the dst of NewWriter.
func (w *Writer) Text() Text { return w.buf }

// Open opens an object with '{', or an array with '['.
func (w *Writer) Open(bracket byte) {
	w.comma()
	w.buf = append(w.buf, bracket)
}

// Close closes an object with '}', or an array with ']'.
func (w *Writer) Close(bracket byte) { w.buf = append(w.buf, bracket) }

// comma writes a comma if the previous piece needs one.
func (w *Writer) comma() {
	if len(w.buf) == w.start {
		return
	}
	switch w.buf[len(w.buf)-1] {
	case '{', '[', ':', ',':
		return
	}
	w.buf = append(w.buf, ',')
}

// Name writes the name of a member. Its value must follow: w.Name("id").String(id). The name must need no escapes.
func (w *Writer) Name(name string) *Writer {
	w.comma()
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
	return w
}

// String writes a string; see [AppendQuoted].
func (w *Writer) String(s string) {
	w.comma()
	w.buf = AppendQuoted(w.buf, s)
}

// StringOrNull writes a string, or null if it is nil.
func (w *Writer) StringOrNull(s *string) {
	if s == nil {
		w.Null()
		return
	}
	w.String(*s)
}

// Int writes a number.
func (w *Writer) Int(n int64) {
	w.comma()
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

// Bool writes true or false.
func (w *Writer) Bool(b bool) {
	w.comma()
	w.buf = strconv.AppendBool(w.buf, b)
}

// Raw writes a value that is canonical JSON.
func (w *Writer) Raw(json []byte) {
	w.comma()
	w.buf = append(w.buf, json...)
}

// Null writes null.
func (w *Writer) Null() { w.Raw([]byte("null")) }

// IntOrNull writes a number, or null if it is nil.
func (w *Writer) IntOrNull(n *int64) {
	if n == nil {
		w.Null()
		return
	}
	w.Int(*n)
}

// MaybeRaw writes a member with canonical JSON, or nothing if it is nil.
func (w *Writer) MaybeRaw(name string, json []byte) {
	if json != nil {
		w.Name(name).Raw(json)
	}
}

// Key writes the name of a member like Name, but with escapes.
func (w *Writer) Key(name string) *Writer {
	w.String(name)
	w.buf = append(w.buf, ':')
	return w
}

// Array writes an array of items that can write themselves.
func Array[T any](w *Writer, items []T, write func(T, *Writer)) {
	w.Open('[')
	for _, item := range items {
		write(item, w)
	}
	w.Close(']')
}
