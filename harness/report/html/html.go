// Package html writes a judged run, or a history of runs, as a page, and its verdict as a badge.
package html

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
)

// The page is a single file. Its data are JSON in a script element that browsers do not run. Its program inserts them
// into the document as text, never as markup.
var (
	//go:embed page/page.css
	pageStyle string
	//go:embed page/*.js
	pageFiles embed.FS

	pageProgram = program("elements", "state", "head", "list", "detail", "timeline", "tables", "start")
)

// program joins the files of the page's program into one scope.
func program(names ...string) string {
	var b strings.Builder
	b.WriteString("\"use strict\";\n(() => {\n")
	for _, name := range names {
		text, err := pageFiles.ReadFile("page/" + name + ".js")
		if err != nil {
			panic(err) // the file is part of the program
		}
		b.Write(text)
	}
	b.WriteString("})();\n")
	return b.String()
}

// pageHead is the beginning of the page: its policy, title and style.
const pageHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>%s</style>
</head>
<body>
`

const (
	pagePolicy = "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'"
	dataTag    = "\n<script type=\"application/json\" id=\"data\">"
	pageEnd    = "<script>%s</script>\n</body>\n</html>\n"
)

// Write writes a run as a page that works from a file, without a network. What a server sent has no effect in it,
// because it is never markup. The page's policy (Content Security Policy 3) runs only the page's own program, and
// forbids all requests.
func Write(w io.Writer, doc *report.Document) error {
	data, err := json.Marshal(newPageData(doc)) // escapes <, >, & and line separators
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	b := bufio.NewWriterSize(w, 1<<16)
	policy := fmt.Sprintf(pagePolicy, sha256Base64(pageProgram), sha256Base64(pageStyle))
	word, text := html.EscapeString(textfit.Clip(string(doc.Verdict), 20)), html.EscapeString(report.Conclusion(doc))
	fmt.Fprintf(b, pageHead, policy, word+": lockstep", pageStyle)
	fmt.Fprintf(b, `<main id="page"><h1>%s</h1><p>%s</p><noscript><p>To see the findings, allow scripts; the page loads nothing from elsewhere.</p></noscript></main>`+dataTag, word, text)
	b.Write(data)
	fmt.Fprintf(b, "</script>\n"+pageEnd, pageProgram)
	return b.Flush()
}

// IsPage reports whether a file is a page as Write writes it, with any data. It has no other script, and loads nothing.
func IsPage(content []byte) bool {
	policy := fmt.Sprintf(pagePolicy, sha256Base64(pageProgram), sha256Base64(pageStyle))
	before, _, _ := strings.Cut(pageHead, "<title>")
	rest, ok := bytes.CutPrefix(content, fmt.Appendf(nil, before, policy))
	_, rest, begins := bytes.Cut(rest, []byte(dataTag))
	data, rest, ends := bytes.Cut(rest, []byte("</script>\n"))
	return ok && begins && ends && !bytes.ContainsAny(data, "<>") && string(rest) == fmt.Sprintf(pageEnd, pageProgram)
}

func sha256Base64(text string) string {
	digest := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(digest[:])
}
