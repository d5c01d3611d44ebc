// Package archive reads a ZIP archive as a JSON document: an object with a member for each entry, so that values in an
// archive can be found by JSON paths.
//
// The member depends on the content and the name of the entry:
//
//  1. For bytes that are not UTF-8, it is {"size": 68, "sha256": "…"}.
//  2. For a name that ends in .json, it is the JSON as it is written.
//  3. For a name that ends in .jsonl or .ndjson, it is the list of the lines' JSON.
//  4. For any other text, and for invalid JSON, it is the list of its lines, without their line feeds. A text that ends with a
//     line feed has an empty line at the end.
//  5. For a directory, it is null.
//
// Times, compression and permissions of entries are ignored.
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

	"github.com/lockstep-dev/lockstep/harness/internal/plainjson"
)

// Limits of an archive, because a small file can contain a lot of data.
const (
	MaxEntries = 10_000
	MaxInEntry = 16 << 20 // bytes
	MaxInAll   = 32 << 20 // bytes of all entries
)

// Is reports whether a content type is that of a ZIP archive.
func Is(contentType string) bool {
	if !strings.ContainsAny(contentType, "zZ") { // fast for most types
		return false
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/zip" || media == "application/x-zip-compressed" || strings.HasSuffix(media, "+zip"))
}

// A Document is the content of an archive.
type Document struct {
	JSON  []byte
	Names []string // of the entries, in their order
}

// Read reads an archive. It returns an error when the archive is broken, exceeds a limit, or has a name twice. The text
// of the error continues a sentence that begins with the archive.
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
		out.Write(plainjson.Encode(e.name))
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

// Content returns a body as a document: the document of a readable archive, the list of lines of JSON, or else the body
// itself.
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

// Replace returns the archive with changed names and contents of its entries. It returns nil when nothing changes.
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

// open reads all entries. It does not trust the sizes in the archive.
func open(data []byte) ([]entry, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("is no ZIP archive: %w", err)
	}
	if err := checkEnds(data, z); err != nil {
		return nil, err
	}
	if n := len(z.File); n > MaxEntries {
		return nil, fmt.Errorf("has %d entries, and %d are looked at", n, MaxEntries)
	}
	var out []entry
	names, left := map[string]bool{}, int64(MaxInAll)
	for _, f := range z.File {
		name := strings.ToValidUTF8(f.Name, "\ufffd")
		if names[name] {
			return nil, fmt.Errorf("has the entry %q twice", name)
		}
		names[name] = true
		content, err := read(f, min(left, MaxInEntry))
		if err != nil {
			return nil, err
		}
		left -= int64(len(content))
		out = append(out, entry{name, content})
	}
	return out, nil
}

// checkEnds returns an error when there are bytes before or after the archive. Other readers search for the end from
// behind, and ignore such bytes.
func checkEnds(data []byte, z *zip.Reader) error {
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

// read reads an entry up to a limit of bytes.
func read(f *zip.File, limit int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("has an entry %q that cannot be read: %w", f.Name, err)
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("has an entry %q that cannot be read: %w", f.Name, err)
	case int64(len(content)) > limit && limit < MaxInEntry:
		return nil, fmt.Errorf("has more than %d bytes in its entries, and no more are looked at", MaxInAll)
	case int64(len(content)) > limit:
		return nil, fmt.Errorf("has an entry %q of more than %d bytes, and no more are looked at", f.Name, MaxInEntry)
	}
	return content, nil
}

// write writes the entry as JSON.
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
		list(out, bytes.Split(e.content, []byte("\n")), func(line []byte) []byte { return plainjson.Encode(string(line)) })
	}
}

// linesOfJSON reports whether each line of a text is JSON. The last one may end with a line feed.
func linesOfJSON(text []byte) bool {
	for line := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if !json.Valid(line) {
			return false
		}
	}
	return true
}

// writeLines writes lines of JSON as a list.
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
