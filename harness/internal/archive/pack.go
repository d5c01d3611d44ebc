package archive

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"
)

// Pack makes an archive with a given document. Entries of the original with the same JSON keep their content. A member
// whose JSON does not fit its name becomes bytes that are not UTF-8, so that the entry differs from the original.
func Pack(doc, original []byte) ([]byte, error) {
	before, err := open(original)
	if err != nil {
		return nil, err
	}
	kept := map[string]*entry{}
	for i := range before {
		kept[before[i].name] = &before[i]
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('{') {
		return nil, cmp.Or(err, errors.New("the document is no object"))
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		file, _ := name.(string)
		to, err := w.Create(file)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(to, content(file, value, kept[file])); err != nil {
			return nil, err
		}
	}
	if _, err := dec.Token(); err != nil { // }
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// content returns the content of an entry with a given member.
func content(name string, value json.RawMessage, before *entry) string {
	if before != nil {
		var was bytes.Buffer
		before.write(&was)
		if bytes.Equal(compact(was.Bytes()), compact(value)) {
			return string(before.content)
		}
	}
	var lines []json.RawMessage
	var texts []string
	switch ext := strings.ToLower(path.Ext(name)); {
	case ext == ".json":
		return string(value)
	case (ext == ".jsonl" || ext == ".ndjson") && value[0] == '[' && json.Unmarshal(value, &lines) == nil:
		var out strings.Builder
		for _, line := range lines {
			out.Write(compact(line))
			out.WriteByte('\n')
		}
		return out.String()
	case value[0] == '[' && !bytes.Contains(value, []byte("null")) && json.Unmarshal(value, &texts) == nil:
		return strings.Join(texts, "\n")
	}
	return "\xff" + string(value)
}

func compact(value []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return value
	}
	return out.Bytes()
}
