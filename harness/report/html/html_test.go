package html

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/report"
)

func TestAPageIsOneFileThatRunsItsOwnProgramOnly(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, &report.Document{}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"default-src 'none'", "script-src 'sha256-" + sha256Base64(pageProgram) + "'", "style-src 'sha256-" + sha256Base64(pageStyle) + "'", "<script>" + pageProgram + "</script>", "<style>" + pageStyle + "</style>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %.60q", want)
		}
	}
	for _, never := range []string{" src=", " href=", "@import", "url(", "innerHTML", "insertAdjacentHTML", "document.write", "eval(", "unsafe-"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
}
