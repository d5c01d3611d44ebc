package llm

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// pictures creates images of the given sizes, and returns their paths.
func pictures(t *testing.T, sizes ...int64) (paths []string) {
	t.Helper()
	directory := t.TempDir()
	for i, size := range sizes {
		path := filepath.Join(directory, fmt.Sprintf("%d.png", i))
		err := os.WriteFile(path, signatures[0].bytes, 0o600)
		if err == nil {
			err = os.Truncate(path, size)
		}
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// sizesNamed returns the sizes of the images that the user's texts name. Each text is a message of its own.
func sizesNamed(bounds imageBounds, texts ...string) string {
	var messages []message.Message
	for _, text := range texts {
		messages = append(messages, message.Message{Role: message.User, Content: []message.Content{message.Text{Text: text}}})
	}
	var sizes []string
	for _, images := range imagesNamed(messages, bounds) {
		size := "-"
		for _, image := range images {
			data, _ := base64.StdEncoding.DecodeString(image.Data)
			size += fmt.Sprint(len(data)) + "-"
		}
		sizes = append(sizes, size)
	}
	return strings.Join(sizes, " ")
}

func TestTheImagesThatTextsNameAreBounded(t *testing.T) {
	bounds := imageBounds{paths: 10, one: 20, all: 50}
	paths := pictures(t, 20, 19, 18, 11, 21)
	twenty, nineteen, eighteen, eleven, large := paths[0], paths[1], paths[2], paths[3], paths[4]
	for _, tc := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"as large as allowed, and larger", []string{twenty + " " + large}, "-20-"},
		{"as many as allowed", []string{twenty + " " + nineteen, eleven}, "-20-19- -11-"},
		{"one that does not fit does not hide those behind it", []string{twenty + " " + nineteen + " " + eighteen + " " + eleven}, "-20-19-11-"},
		{"the oldest goes first", []string{eighteen, nineteen, twenty}, "- -19- -20-"},
	} {
		if got := sizesNamed(bounds, tc.texts...); got != tc.want {
			t.Errorf("%s: the images have %s bytes, want %s", tc.name, got, tc.want)
		}
	}
}

func TestTheNumberOfPathsThatAreReadIsBounded(t *testing.T) {
	bounds := imageBounds{paths: 3, one: 20, all: 200}
	small := strings.Join(pictures(t, 11, 12, 13, 14), " ")
	if got, want := sizesNamed(bounds, small+" "+small, small), "-11-12-13- -11-12-13-"; got != want {
		t.Errorf("the images of two messages: %s, want %s", got, want)
	}
	var many strings.Builder // a client may send such a text
	for i := range 1 << 18 {
		fmt.Fprintf(&many, "/nowhere/%d.png ", i)
	}
	if got := sizesNamed(namedImages, many.String()); got != "-" { // comparing each path with all earlier ones would take hours
		t.Errorf("images that are not there: %s", got)
	}
}
