package house

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxWords is the maximum length of a sentence in a document. A reader who skims cannot follow longer ones.
const maxWords = 30

// dialect has words that make documents hard to read, and what to write instead.
var dialect = []struct {
	words *regexp.Regexp
	write string
}{
	{words(`anew`), "again"},
	{words(`are told|is told|(?:not|once|twice) told|told (?:of|so)`), "reported"},
	{words(`as ever`), "as always"},
	{words(`besides`), "also"},
	{words(`goes? by`), "uses"},
	{words(`held (?:against|to)`), "checked against"},
	{words(`in force`), "that applies"},
	{words(`(?:is|are) none[.,;:]`), `the noun again: "is not a valid archive"`},
	{words(`ma(?:de|kes?|king) up`), "generate"},
	{words(`mend(?:s|ed|ing)?`), "fix"},
	{words(`nobody|whoever`), "the name of the reader, client or process"},
	{words(`of (?:mine|ours|yours|now)`), `"our", "your", "current"`},
	{words(`stands? (?:above|alone|at|behind|below|beside|by|on|there|under)`), "is"},
	{words(`their like|its like`), "similar ones"},
	{words(`up to renaming`), "apart from generated values"},
	{words(`where (?:they|it) parts?`), "where they differ"},
	{words(`(?:has|have) no word for`), "cannot express"},
}

func words(alternatives string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + alternatives + `)(?:\b|\s|$)`)
}

// written returns the documents that people write and read, by their paths from the root.
func written(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, file := range citing(t) {
		if file == "README.md" || strings.HasPrefix(file, "docs/") && filepath.Ext(file) == ".md" {
			files = append(files, file)
		}
	}
	return files
}

// A passage is a paragraph, a list item, a heading or a row of a table, without its code and the targets of its
// links.
type passage struct {
	line      int
	text      string
	sentences bool // it is a paragraph or a list item
}

var (
	listItem  = regexp.MustCompile(`^(?:[-*+]|\d+\.)\s+`)
	codeSpan  = regexp.MustCompile("``.+?``|`[^`]*`")
	target    = regexp.MustCompile(`\]\([^()]*\)`)
	markup    = regexp.MustCompile(`<[^<>]*>|\*\*`)
	separator = regexp.MustCompile(`[.!?:;·]["”)*]*\s+`)
	word      = regexp.MustCompile(`\S*\pL\S*`)
)

// passages returns the prose of a document. It leaves out lines that begin with "Proof:", because they only link
// tests.
func passages(document string) []passage {
	var all []passage
	fenced, open := false, false
	for i, line := range strings.Split(document, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced, open = !fenced, false
			continue
		}
		switch {
		case fenced || line == "" || strings.HasPrefix(line, "<!--") || strings.HasPrefix(line, "Proof: "):
			open = false
		case strings.HasPrefix(line, "|"), strings.HasPrefix(line, "#"):
			all, open = append(all, passage{line: i + 1, text: line}), false
		case open && !listItem.MatchString(line):
			all[len(all)-1].text += " " + line
		default:
			all, open = append(all, passage{line: i + 1, text: listItem.ReplaceAllString(line, ""), sentences: true}), true
		}
	}
	for i := range all {
		text := codeSpan.ReplaceAllString(all[i].text, "`")
		all[i].text = markup.ReplaceAllString(target.ReplaceAllString(text, "]"), "")
	}
	return all
}

// obscure returns what makes a document hard to read.
func obscure(document string) []string {
	var mistakes []string
	for _, p := range passages(document) {
		for _, d := range dialect {
			if found := d.words.FindString(p.text); found != "" {
				mistakes = append(mistakes, fmt.Sprintf("%d: %q: write %s", p.line, strings.TrimSpace(found), d.write))
			}
		}
		if !p.sentences {
			continue
		}
		for _, sentence := range separator.Split(p.text, -1) {
			if n := len(word.FindAllString(sentence, -1)); n > maxWords {
				mistakes = append(mistakes, fmt.Sprintf("%d: a sentence of %d words: write several of at most %d: %.60s…", p.line, n, maxWords, sentence))
			}
		}
	}
	return mistakes
}

func TestDocumentsAreInPlainEnglish(t *testing.T) {
	sentences := 0
	for _, file := range written(t) {
		document := read(t, file)
		for _, mistake := range obscure(document) {
			t.Errorf("%s:%s", file, mistake)
		}
		for _, p := range passages(document) {
			if p.sentences {
				sentences += len(separator.Split(p.text, -1))
			}
		}
	}
	if sentences < 3000 {
		t.Errorf("only %d sentences were found: this test has lost its object", sentences)
	}
}

func TestObscurePassagesAreFound(t *testing.T) {
	long := strings.Repeat("word ", maxWords)
	for text, want := range map[string]string{
		"Nobody reads this.":                                 `1: "Nobody"`,
		"- The rules\n  of now hold.":                        `1: "of now"`,
		"| A value\n\n| that is made up |":                   `3: "made up"`,
		"# What is told once":                                `1: "is told"`,
		"An archive that\nis none, and a word.":              `1: "is none,"`,
		"Short.\n\n" + long + "\nmore.":                      "3: a sentence of 31 words",
		long + "`code` `code` more":                          "1: a sentence of 31 words",
		"Proof: nobody\n```\nnobody " + long + "of\n```":     "",
		"`nobody` [a](nobody.md). " + long + ": " + long:     "",
		"- " + long + "\n- " + long + "\n\n| " + long + long: "",
		"It stands for 5, and is told apart, is\nnone":       `1: "is told"`,
	} {
		got := strings.Join(obscure(text), "\n")
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
