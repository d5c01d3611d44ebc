package llm

import (
	"bytes"
	"encoding/base64"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/message"
)

// maxNamedImage bounds the images that a text may name.
const maxNamedImage = 20 << 20

// signatures are what images begin with.
var signatures = []struct {
	bytes    []byte
	mimeType string
}{
	{[]byte("\x89PNG\r\n\x1a\n"), "image/png"},
	{[]byte("\xff\xd8\xff"), "image/jpeg"},
}

// namedImages returns the images whose paths stand in texts (GA 18.7, decision M13). What cannot be read is only text.
func namedImages(texts []string) (images []message.Image) {
	var seen []string
	for _, text := range texts {
		for word := range strings.FieldsSeq(text) {
			if !isImagePath(word) || slices.Contains(seen, word) {
				continue
			}
			seen = append(seen, word)
			if image, ok := readImage(word); ok {
				images = append(images, image)
			}
		}
	}
	return images
}

func isImagePath(word string) bool {
	lower := strings.ToLower(word)
	return strings.HasPrefix(word, "/") &&
		(strings.HasSuffix(lower, ".png") || strings.HasSuffix(lower, ".jpg") || strings.HasSuffix(lower, ".jpeg"))
}

func readImage(path string) (message.Image, bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxNamedImage {
		return message.Image{}, false // a pipe, say, must not be opened: that could wait for ever
	}
	file, err := os.Open(path)
	if err != nil {
		return message.Image{}, false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxNamedImage+1))
	if err != nil || len(data) > maxNamedImage {
		return message.Image{}, false
	}
	for _, signature := range signatures {
		if bytes.HasPrefix(data, signature.bytes) {
			return message.Image{Data: base64.StdEncoding.EncodeToString(data), MIMEType: signature.mimeType}, true
		}
	}
	return message.Image{}, false
}
