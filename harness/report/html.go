package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
)

// The page is one file without anything outside itself. Its data are JSON in a script element that no browser runs, and
// its program puts them into the document as text, never as markup.
var (
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageProgram string
)

// HTML writes a run as a page that works from a file, without a network. Nothing that a server said acts in it: it is
// never markup, and the page's policy (Content Security Policy 3) lets nothing run but the page's own program, and
// nothing be fetched.
func HTML(w io.Writer, doc *Document) error {
	data, err := json.Marshal(newView(doc)) // which escapes <, >, & and line separators
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	b := bufio.NewWriterSize(w, 1<<16)
	policy := fmt.Sprintf("default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", sum(pageProgram), sum(pageStyle))
	word, text := html.EscapeString(clip(string(doc.Verdict), 20)), html.EscapeString(conclusion(doc))
	fmt.Fprintf(b, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>%s: lockstep</title>
<style>%s</style>
</head>
<body>
<main id="page"><h1>%s</h1><p>%s</p><noscript><p>The findings show when scripts may run; the page loads nothing from elsewhere.</p></noscript></main>
<script type="application/json" id="data">`, policy, word, pageStyle, word, text)
	b.Write(data)
	fmt.Fprintf(b, "</script>\n<script>%s</script>\n</body>\n</html>\n", pageProgram)
	return b.Flush()
}

func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(digest[:])
}

// seen returns a text of several lines in which everything can be seen, see visible. It keeps line ends.
func seen(s string) string {
	if !strings.Contains(s, "\n") {
		return visible(s)
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = visible(line)
	}
	return strings.Join(lines, "\n")
}
