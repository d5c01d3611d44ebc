// Package archive reads a ZIP archive as a document: a JSON object with a member for each entry, so that whoever looks for
// values in JSON finds them in an archive by the same paths.
//
// What the member of an entry is, its content and its name say:
//
//  1. Of bytes that are no UTF-8: {"size": 68, "sha256": "…"}.
//  2. Of a name that ends in .json: the JSON, as it is written.
//  3. Of a name that ends in .jsonl or .ndjson: the list of the lines' JSON.
//  4. Of any other text, and of one that is not the JSON it is called: the list of its lines, without their line feeds. One
//     that ends in a line feed has an empty line at the end.
//  5. Of a directory: null.
//
// When an entry was written, how it is compressed, and which rights it has are no part of it.
package archive

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"strings"
	"unicode/utf8"
)

// What an archive has at most: a small one can hold very much.
const (
	MostEntries = 10_000
	MostInEntry = 16 << 20 // bytes
	MostInAll   = 32 << 20 // bytes of all entries
)

// Is reports whether a content type is that of a ZIP archive.
func Is(contentType string) bool {
	if !strings.ContainsAny(contentType, "zZ") { // the cheap test
		return false
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/zip" || media == "application/x-zip-compressed" || strings.HasSuffix(media, "+zip"))
}

// A Document is what an archive holds.
type Document struct {
	JSON  []byte
	Names []string // of the entries, in their order
}

// Read reads an archive. One that is broken, that has more than it may, or that has a name twice, so that nobody can say
// which entry is meant, is an error, which says what is wrong as a sentence goes on.
func Read(data []byte) (*Document, error) {
	entries, err := open(data)
	if err != nil {
		return nil, err
	}
	doc := &Document{}
	var out bytes.Buffer
	for i, e := range entries {
		doc.Names = append(doc.Names, e.name)
		out.WriteByte("{,"[min(i, 1)])
		out.Write(encode(e.name))
		out.WriteByte(':')
		e.write(&out)
	}
	if len(entries) == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	doc.JSON = out.Bytes()
	return doc, nil
}

// Content returns what a body of a content type holds as a document: of an archive that can be read, that of the archive, of
// lines of JSON the list of these, and else the body.
func Content(contentType string, body []byte) []byte {
	if list, ok := Lines(contentType, body); ok {
		return list
	}
	if Is(contentType) {
		if doc, err := Read(body); err == nil {
			return doc.JSON
		}
	}
	return body
}

// Replace returns the archive with other contents of its entries, and of their names. It is nil when nothing is changed.
func Replace(data []byte, change func(text string) string) ([]byte, error) {
	entries, err := open(data)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	changed := false
	for _, e := range entries {
		name, content := change(e.name), change(string(e.content))
		changed = changed || name != e.name || content != string(e.content)
		to, err := w.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(to, content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil || !changed {
		return nil, err
	}
	return out.Bytes(), nil
}

// An entry is a file in an archive, or a directory.
type entry struct {
	name    string
	content []byte
}

// open reads all entries, and believes nothing that the archive says of their sizes.
func open(data []byte) ([]entry, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("is no ZIP archive: %w", err)
	}
	if err := framed(data, z); err != nil {
		return nil, err
	}
	if n := len(z.File); n > MostEntries {
		return nil, fmt.Errorf("has %d entries, and %d are looked at", n, MostEntries)
	}
	var out []entry
	names, left := map[string]bool{}, int64(MostInAll)
	for _, f := range z.File {
		name := strings.ToValidUTF8(f.Name, "\ufffd")
		if names[name] {
			return nil, fmt.Errorf("has the entry %q twice", name)
		}
		names[name] = true
		content, err := read(f, min(left, MostInEntry))
		if err != nil {
			return nil, err
		}
		left -= int64(len(content))
		out = append(out, entry{name, content})
	}
	return out, nil
}

// framed says whether the file is the archive and nothing else. Readers look for its end from behind, and pass over what
// stands around it.
func framed(data []byte, z *zip.Reader) error {
	const first, end, endLen = "PK\x03\x04", "PK\x05\x06", 22 // of an entry, and of the end of the directory (APPNOTE 4.3.7, 4.3.16)
	begins := first
	if len(z.File) == 0 {
		begins = end
	}
	if !bytes.HasPrefix(data, []byte(begins)) {
		return errors.New("has something in front of its first entry")
	}
	if at := len(data) - endLen - len(z.Comment); at < 0 || !bytes.HasPrefix(data[at:], []byte(end)) {
		return errors.New("has something behind its end")
	}
	return nil
}

// read reads an entry of so many bytes at most.
func read(f *zip.File, most int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("has an entry %q that cannot be read: %w", f.Name, err)
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("has an entry %q that cannot be read: %w", f.Name, err)
	case int64(len(content)) > most && most < MostInEntry:
		return nil, fmt.Errorf("has more than %d bytes in its entries, and no more are looked at", MostInAll)
	case int64(len(content)) > most:
		return nil, fmt.Errorf("has an entry %q of more than %d bytes, and no more are looked at", f.Name, MostInEntry)
	}
	return content, nil
}

// write writes what the entry holds as JSON.
func (e *entry) write(out *bytes.Buffer) {
	switch ext := strings.ToLower(path.Ext(e.name)); {
	case strings.HasSuffix(e.name, "/") && len(e.content) == 0:
		out.WriteString("null")
	case !utf8.Valid(e.content):
		sum := sha256.Sum256(e.content)
		fmt.Fprintf(out, `{"size":%d,"sha256":"%s"}`, len(e.content), hex.EncodeToString(sum[:]))
	case ext == ".json" && json.Valid(e.content):
		out.Write(bytes.TrimSpace(e.content))
	case (ext == ".jsonl" || ext == ".ndjson") && linesOfJSON(e.content):
		writeLines(out, e.content)
	default:
		list(out, bytes.Split(e.content, []byte("\n")), func(line []byte) []byte { return encode(string(line)) })
	}
}

// linesOfJSON reports whether each line of a text is JSON. The last one may have a line feed.
func linesOfJSON(text []byte) bool {
	for line := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if !json.Valid(line) {
			return false
		}
	}
	return true
}

// writeLines writes the list of what lines of JSON hold.
func writeLines(out *bytes.Buffer, text []byte) {
	list(out, bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")), bytes.TrimSpace)
}

func list(out *bytes.Buffer, items [][]byte, written func([]byte) []byte) {
	out.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(written(item))
	}
	out.WriteByte(']')
}

// encode writes a text as JSON, with no more escapes than it needs.
func encode(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a text can be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
