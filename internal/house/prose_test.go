package house

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

// citing returns the files that may cite the behaviour documents, by their paths from the root.
func citing(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "node_modules", "dist", "bin", "reports"}, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if slices.Contains([]string{".go", ".ts", ".yaml", ".md"}, filepath.Ext(rel)) && filepath.Base(rel) != "citations_test.go" {
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// prose returns the lines of a file that may have citations, by line number. These are comments and test names of
// code; comments, sources and reasons of YAML; and documents without their code.
func prose(t *testing.T, file string) map[int]string {
	t.Helper()
	text := read(t, file)
	if filepath.Ext(file) == ".go" {
		return goComments(text)
	}
	lines := map[int]string{}
	inside := false // in a code block of Markdown, or in a comment of TypeScript
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch filepath.Ext(file) {
		case ".md":
			if strings.HasPrefix(trimmed, "```") {
				inside = !inside
			} else if !inside {
				lines[i+1] = code.ReplaceAllString(line, "")
			}
		case ".yaml":
			if strings.HasPrefix(line, "source: ") {
				lines[i+1] = line
			} else if at := yamlProse.FindStringIndex(line); at != nil {
				lines[i+1] = line[at[0]:]
			}
		case ".ts":
			inside = inside || strings.HasPrefix(trimmed, "/*")
			if inside || testName.MatchString(trimmed) {
				lines[i+1] = trimmed
			} else if at := lineComment.FindStringIndex(line); at != nil {
				lines[i+1] = line[at[0]:]
			}
			inside = inside && !strings.Contains(line, "*/")
		}
	}
	return lines
}

var (
	yamlProse   = regexp.MustCompile(`(?:^|\s)#|\b(?:because|why|description|summary): `)
	lineComment = regexp.MustCompile(`(?:^|\s)//(?:\s|$)`)
	testName    = regexp.MustCompile("^(?:describe|it|test|\\]\\))[.\\w]*\\(['\"`]")
)

func goComments(text string) map[int]string {
	lines := map[int]string{}
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, scanner.ScanComments)
	for {
		at, kind, comment := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind == token.COMMENT {
			for i, line := range strings.Split(comment, "\n") {
				lines[file.Line(at)+i] += line
			}
		}
	}
}

func read(t *testing.T, file string) string {
	return testfile.Text(t, filepath.Join(root, file))
}
