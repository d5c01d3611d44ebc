package report

import (
	"archive/zip"
	"bytes"
	"fmt"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestAnArchiveIsShownByItsEntries(t *testing.T) {
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for _, name := range []string{"session.json", "logs/"} {
		to, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "session.json" {
			fmt.Fprint(to, `{"id":1}`)
		}
	}
	w.Close()
	answer := func(body string) *transcript.Response {
		return &transcript.Response{
			Proto: "HTTP/1.1", Status: 200, Header: transcript.Header{{Name: "Content-Type", Value: "application/zip"}},
			Body: transcript.Body{Bytes: []byte(body), Size: int64(len(body))},
		}
	}
	const head = "HTTP/1.1 200\nContent-Type: application/zip\n\n"
	whole := answer(file.String())
	if got, want := answerText(whole), head+fmt.Sprintf("‹ZIP archive of %d bytes›\nsession.json\nlogs/\n", file.Len()); got != want {
		t.Errorf("answerText: %q, want %q", got, want)
	}
	if got := answerText(answer("no archive")); got != head+"no archive" {
		t.Errorf("answerText of none: %q", got)
	}
}
