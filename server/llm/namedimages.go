package llm

import (
	"bytes"
	"encoding/base64"
	"io"
	"os"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// imageBounds limit the images that texts may name.
type imageBounds struct {
	paths    int   // per message, to check
	one, all int64 // bytes per image, and per request
}

// namedImages are the limits of decision M13.
var namedImages = imageBounds{paths: 100, one: 20 << 20, all: 50 << 20}

// signatures are the first bytes of images.
var signatures = []struct {
	bytes    []byte
	mimeType string
}{
	{[]byte("\x89PNG\r\n\x1a\n"), "image/png"},
	{[]byte("\xff\xd8\xff"), "image/jpeg"},
}

// imagesNamed returns the images whose paths appear in the user's texts, for each message (GA 18.7, decision M13). A
// path that cannot be read is only text. So is one beyond the limits, which are used up by the newest messages first.
func imagesNamed(messages []message.Message, bounds imageBounds) [][]message.Image {
	all := make([][]message.Image, len(messages))
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == message.User {
			all[i] = namedIn(messages[i], &bounds)
		}
	}
	return all
}

// namedIn returns the images of one message, and subtracts their size from the limit for all.
func namedIn(m message.Message, bounds *imageBounds) (images []message.Image) {
	seen := map[string]bool{}
	for _, item := range m.Content {
		text, _ := item.(message.Text)
		for word := range strings.FieldsSeq(text.Text) {
			if !isImagePath(word) || seen[word] {
				continue
			}
			if len(seen) == bounds.paths {
				return images
			}
			seen[word] = true
			if image, size := readImage(word, min(bounds.one, bounds.all)); size > 0 {
				images = append(images, image)
				bounds.all -= size
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

// readImage reads an image of at most the given size, and returns its size: 0 if there is none.
func readImage(path string, most int64) (image message.Image, size int64) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return image, 0 // opening a pipe, for example, could block forever
	}
	file, err := os.Open(path)
	if err != nil {
		return image, 0
	}
	defer file.Close()
	var content bytes.Buffer
	content.Grow(int(info.Size()) + bytes.MinRead)
	if n, err := content.ReadFrom(io.LimitReader(file, most+1)); err != nil || n > most {
		return image, 0
	}
	data := content.Bytes()
	for _, signature := range signatures {
		if bytes.HasPrefix(data, signature.bytes) {
			return message.Image{Data: base64.StdEncoding.EncodeToString(data), MIMEType: signature.mimeType}, int64(len(data))
		}
	}
	return image, 0
}
